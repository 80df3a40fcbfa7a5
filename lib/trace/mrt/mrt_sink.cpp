#include "trace/mrt/mrt_sink.hpp"

#include <algorithm>

namespace memreplay {
namespace {

template <typename Plain>
std::string_view bytes_of(const Plain& plain) {
  return {reinterpret_cast<const char*>(&plain), sizeof plain};
}

}  // namespace

MrtSink::MrtSink(std::ostream& out) : out_(out) {
  write(kMrtMagic);
  write({reinterpret_cast<const char*>(&kMrtVersion), 1});
}

void MrtSink::add(std::size_t number, const EventColumns& events) {
  TraceSoFar& trace = this->trace(number);
  count(events, trace);
  for (std::size_t from = 0; from < events.ops.size(); from += kMrtBlockEvents) {
    const std::size_t to = std::min(from + kMrtBlockEvents, events.ops.size());
    write_block(number, to - from, trace.encoder.encode(events, from, to));
  }
}

void MrtSink::write(std::string_view bytes) {
  out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  written_ += bytes.size();
}

MrtSink::TraceSoFar& MrtSink::trace(std::size_t number) {
  while (traces_.size() <= number) traces_.emplace_back();
  return traces_[number];
}

void MrtSink::count(const EventColumns& events, TraceSoFar& trace) {
  EventTotals& totals = trace.totals;
  for (std::size_t i = 0; i < events.ops.size(); ++i) {
    const Op op = events.ops[i];
    const Bytes size = events.sizes[i];
    const bool frees = op == Op::free || op == Op::free_requested;
    totals.allocs += op == Op::allocate;
    totals.frees += frees;
    totals.program_alone &= !is_driver_event(op) && op != Op::oom;
    if (op == Op::allocate) trace.requested += size;
    if (frees) trace.requested -= std::min(trace.requested, size);
    trace.peaks.note(totals.events++, trace.requested, 0);
  }
  totals.requests_say_more |= !events.threads.empty() || !events.tags.empty() ||
                              !events.freed_before.empty() || !events.upper_end.empty();
  for (const std::int64_t us : events.times_us) {
    if (!totals.times_us) totals.times_us.emplace(us, us);
    totals.times_us->first = std::min(totals.times_us->first, us);
    totals.times_us->second = std::max(totals.times_us->second, us);
  }
}

void MrtSink::write_block(std::size_t trace, std::size_t events, const std::string& payload) {
  MrtBlockHead head{static_cast<std::uint32_t>(trace), static_cast<std::uint32_t>(events),
                    static_cast<std::uint32_t>(payload.size())};
  head.crc = mrt_crc(head, payload);
  write(bytes_of(head));
  write(payload);
  blocks_.push_back(head);
}

void MrtSink::finish(const Recording& recording) {
  MrtEnd end{.about_at = written_};
  std::string about;
  AboutWriter writer(about);
  writer.put(recording);
  for (std::size_t i = 0; i < recording.traces.size(); ++i) {
    EventTotals& totals = trace(i).totals;
    totals.peak_requested = trace(i).peaks.live().requested;
    totals.peak_event = trace(i).peaks.live().event;
    writer.put(totals);
  }
  writer.put(blocks_);
  if (const MrtRemarks remarks = remarks_on(recording); remarks.say_anything()) writer.put(remarks);
  end.crc = mrt_crc(about);
  std::ranges::copy(kMrtEndMagic, end.magic);
  write(about);
  write(bytes_of(end));
}

}  // namespace memreplay

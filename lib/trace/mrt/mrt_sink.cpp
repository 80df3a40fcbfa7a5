#include "trace/mrt/mrt_sink.hpp"

#include <algorithm>

namespace memreplay {
namespace {

template <typename Plain>
std::string_view bytes_of(const Plain& plain) {
  return {reinterpret_cast<const char*>(&plain), sizeof plain};
}

}  // namespace

static_assert(EventSink::kTogether == kMrtBlockEvents);

MrtSink::MrtSink(std::ostream& out) : out_(out) {
  write(kMrtMagic);
  write({reinterpret_cast<const char*>(&kMrtVersion), 1});
}

void MrtSink::add(std::size_t number, const EventColumns& events) {
  TraceSoFar& trace = this->trace(number);
  trace.count.add(events);
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
    writer.put(trace(i).count.totals());
  }
  writer.put(blocks_);
  if (const MrtRemarks remarks = remarks_on(recording); remarks.say_anything()) {
    writer.put(remarks);
    if (remarks.say_what_was_cached()) writer.put(remarks.cached);
  }
  end.crc = mrt_crc(about);
  std::ranges::copy(kMrtEndMagic, end.magic);
  write(about);
  write(bytes_of(end));
}

}  // namespace memreplay

#include <algorithm>
#include <deque>
#include <ostream>
#include <vector>

#include "trace/event_count.hpp"
#include "trace/event_sink.hpp"
#include "trace/mrt/block_code.hpp"
#include "trace/mrt/mrt_format.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

/// Writes an .mrt.
class MrtSink final : public EventSink {
 public:
  /// Begins the file. `out` outlives this.
  explicit MrtSink(std::ostream& out);

  void add(std::size_t trace, const EventColumns& events) override;
  void finish(const Recording& recording) override;

 private:
  struct TraceSoFar {
    BlockEncoder encoder;
    EventCount count;
  };

  TraceSoFar& trace(std::size_t number);
  void write_block(std::size_t trace, std::size_t events, const std::string& payload);
  void write(std::string_view bytes);

  std::ostream& out_;
  std::uint64_t written_ = 0;
  std::deque<TraceSoFar> traces_;
  std::vector<MrtBlockHead> blocks_;
};

template <typename Plain>
std::string_view bytes_of(const Plain& plain) {
  return {reinterpret_cast<const char*>(&plain), sizeof plain};
}

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

}  // namespace

WriterInfo mrt_writer() {
  return {.format = "mrt",
          .name = "MRT",
          .suffix = ".mrt",
          .needs_addresses = false,
          .write =
              [](const Recording& recording, std::ostream& out) {
                MrtSink sink(out);
                for (std::size_t i = 0; i < recording.traces.size(); ++i) {
                  sink.add(i, recording.traces[i]);
                }
                sink.finish(recording);
                return Losses();
              },
          .open = [](std::ostream& out) -> std::unique_ptr<EventSink> {
            return std::make_unique<MrtSink>(out);
          }};
}

}  // namespace memreplay

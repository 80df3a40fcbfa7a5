#include "malloc/malloc_recording.hpp"

#include <algorithm>
#include <filesystem>
#include <limits>

#include "spool/block_trace.hpp"
#include "spool/recording.hpp"

namespace memreplay::capture {
namespace {

constexpr int kHost = -1;
constexpr std::size_t kEventsAtOnce = 1 << 16;
constexpr std::uint64_t kToTheEnd = std::numeric_limits<std::uint64_t>::max();

class MallocReader {
 public:
  MallocReader(const SpoolFile& spool, bool is_running, EventSink& sink)
      : spool_(spool), is_running_(is_running), sink_(sink) {}

  SpoolSummary read() {
    trace_.begin_past();
    take_what_was_before(spool_);
    trace_.end_past(0);
    summary_ = {.inherited = trace_.live_blocks(), .peak_bytes = trace_.live_bytes()};
    latest_us_ = 0;
    begun_ns_ = spool_.head().begun_ns;
    summary_.missing = take_records(spool_, kToTheEnd);
    hand_on();
    summary_.live_blocks = trace_.live_blocks();
    summary_.live_bytes = trace_.live_bytes();
    summary_.stopped_by = static_cast<int>(spool_.head().stopped_by);
    summary_.unrecorded_forks = spool_.head().unrecorded_forks;
    summary_.is_running = is_running_;
    return summary_;
  }

  Trace finish() {
    trace_.coverage().complete = summary_.is_complete();
    trace_.coverage().gapless = trace_.coverage().complete;
    return trace_.finish();
  }

 private:
  /// What the processes did that this one was forked from, until then.
  void take_what_was_before(const SpoolFile& child) {
    if (child.head().forked_from[0] == '\0') return;
    const auto path = std::filesystem::path(child.path()).parent_path() / child.head().forked_from;
    if (!std::filesystem::exists(path)) return;
    const SpoolFile parent(path.string());
    take_what_was_before(parent);
    take_records(parent, child.head().first_order);
  }

  /// Up to an order; gives how many are missing.
  std::uint64_t take_records(const SpoolFile& spool, std::uint64_t last) {
    SpoolRecords records(spool);
    while (const Record* record = records.next()) {
      if (record->order > last) break;
      take(*record, records.thread());
      if (trace_.event_count() >= kEventsAtOnce) hand_on();
    }
    return records.missing();
  }

  void take(const Record& record, std::uint32_t thread);
  void hand_on() {
    if (trace_.event_count() == 0) return;
    sink_.add(0, trace_.events());
    trace_.clear_events();
  }

  const SpoolFile& spool_;
  bool is_running_;
  EventSink& sink_;
  BlockTrace trace_{kHost};
  std::int64_t begun_ns_ = 0;
  std::int64_t latest_us_ = 0;
  SpoolSummary summary_;
};

void MallocReader::take(const Record& record, std::uint32_t thread) {
  // Order, not time, is the truth: a thread may be held up between the two.
  latest_us_ = std::max(latest_us_, (record.time_ns - begun_ns_) / 1000);
  const Made made{latest_us_, thread};
  const Block block{.size = bytes_of(record), .align_log2 = align_log2_of(record)};
  switch (call_of(record)) {
    case Call::allocate:
      ++summary_.allocations;
      trace_.allocate(record.address, block, made);
      summary_.peak_bytes = std::max(summary_.peak_bytes, trace_.live_bytes());
      break;
    case Call::reallocating:
    case Call::free:
      trace_.free(record.address, made) ? ++summary_.frees : ++summary_.unknown_frees;
      break;
    case Call::kept:
    case Call::refused:
      ++summary_.refused;
      trace_.refuse(block, made);
      break;
    default:
      break;
  }
}

}  // namespace

SpoolSummary stream_malloc(const SpooledProcess& process, EventSink& sink) {
  const SpoolFile spool(process.spool);
  MallocReader reader(spool, process.is_running, sink);
  const SpoolSummary summary = reader.read();
  Recording recording = recording_of(process);
  recording.traces.push_back(reader.finish());
  sink.finish(recording);
  return summary;
}

}  // namespace memreplay::capture

#include "analysis/recorded/summary.hpp"

#include <algorithm>
#include <filesystem>

#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

Bytes requested_bytes(const MemoryState& state) {
  Bytes sum = 0;
  for (const SegmentInfo& segment : state.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::allocated) sum += block.requested;
    }
  }
  return sum;
}

void count_events(const Trace& trace, TraceSummary& summary) {
  Bytes requested = requested_bytes(trace.start);
  RecordedReserve reserve(trace);
  bool knows_reserved = !trace.start.segments.empty() || !trace.end.segments.empty();
  summary.peak_requested = requested;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    reserve.play(i);
    knows_reserved |= obtains_memory(trace.ops[i]);
    switch (trace.ops[i]) {
      case Op::allocate:
        ++summary.allocs;
        requested += trace.sizes[i];
        summary.peak_requested = std::max(summary.peak_requested, requested);
        break;
      case Op::free:
      case Op::free_requested:
        ++summary.frees;
        // A recording that lost its beginning may free more than it is known to hold.
        requested -= std::min(requested, trace.sizes[i]);
        break;
      case Op::oom:
        ++summary.ooms;
        break;
      default:
        break;
    }
  }
  if (knows_reserved) summary.peak_reserved = reserve.peak();
}

}  // namespace

TraceSummary summarise(const Recording& recording) {
  TraceSummary summary;
  summary.path = recording.path;
  summary.format = recording.format;
  summary.detail = recording.detail;
  summary.devices = recording.traces.size();
  std::error_code error;
  const auto size = std::filesystem::file_size(recording.path, error);
  if (!error && recording.path != "-") summary.file_bytes = size;
  if (recording.settings.present) summary.settings = recording.settings.conf;
  summary.settings_variable = recording.settings.conf_variable;
  summary.request_padding = recording.settings.request_padding;
  return summary;
}

TraceSummary summarise(const Recording& recording, const Trace& trace) {
  TraceSummary summary = summarise(recording);
  summary.gpu = trace.gpu;
  summary.events = trace.size();
  summary.streams = trace.streams.size();
  summary.pools = trace.pools.size();
  if (!trace.times_us.empty()) {
    const auto [first, last] = std::minmax_element(trace.times_us.begin(), trace.times_us.end());
    summary.duration_us = *last - *first;
  }
  summary.starts_empty = trace.coverage.starts_empty;
  summary.complete = trace.coverage.complete;
  summary.preexisting_blocks = trace.coverage.preexisting_blocks;
  summary.preexisting_bytes = trace.coverage.preexisting_bytes;
  summary.dropped = trace.coverage.dropped;
  summary.synthesised = trace.coverage.synthesised;
  count_events(trace, summary);
  if (!trace.end.segments.empty()) summary.end_reserved = reserved_bytes(trace.end);
  return summary;
}

}  // namespace memreplay

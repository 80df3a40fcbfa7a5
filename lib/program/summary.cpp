#include "program/summary.hpp"

#include <algorithm>
#include <filesystem>

#include "program/early_end.hpp"
#include "program/growth.hpp"
#include "trace/recorded_levels.hpp"
#include "trace/trace.hpp"

namespace memreplay {
namespace {

void enter(const EventTotals& totals, TraceSummary& summary) {
  summary.allocs = totals.allocs;
  summary.frees = totals.frees;
  summary.ooms = totals.ooms;
  summary.peak_requested = totals.peak_requested;
  summary.peak_requested_event = totals.peak_event;
  if (const auto& times = totals.times_us) summary.duration_us = times->second - times->first;
}

void count_events(const Trace& trace, TraceSummary& summary) {
  if (trace.streamed) return enter(trace.streamed->totals(), summary);
  RecordedLevels levels(trace);
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    levels.play(i);
    const Op op = trace.ops[i];
    summary.allocs += op == Op::allocate;
    summary.frees += op == Op::free || op == Op::free_requested;
    summary.ooms += op == Op::oom;
  }
  const Peak& live = levels.peaks().live();
  summary.peak_requested = live.requested;
  summary.peak_requested_event = live.event;
  if (shows_reserved(trace) || !trace.end.segments.empty()) {
    summary.peak_reserved = levels.peaks().reserved().reserved;
    summary.peak_reserved_event = levels.peaks().reserved().event;
  }
}

StateSummary summary_of(const MemoryState& state) {
  StateSummary summary{.reserved = reserved_bytes(state), .segments = state.segments.size()};
  for (const SegmentInfo& segment : state.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::allocated) continue;
      ++summary.blocks;
      summary.live += block.size;
      summary.blocks_with_stacks += block.stack != 0;
    }
  }
  return summary;
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
  summary.lacks = recording.lacks;
  summary.why_no_trace = recording.why_no_trace;
  if (recording.settings.present) summary.settings = recording.settings.conf;
  summary.settings_variable = recording.settings.conf_variable;
  summary.expandable_segments = recording.settings.expandable_segments;
  summary.request_padding = recording.settings.request_padding;
  summary.request_padding_range = recording.settings.request_padding_range;
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
  summary.first_places = trace.coverage.first_places;
  summary.gapless = trace.coverage.gapless;
  summary.full_ring = trace.coverage.full_ring;
  summary.stated = trace.stated;
  count_events(trace, summary);
  summary.early_end = early_end(recording, trace);
  summary.growth = growth_of(recording, trace);
  summary.pluggable_pools = pluggable_pools(trace, recording.texts);
  if (trace.end.segments.empty()) return summary;
  summary.end_reserved = reserved_bytes(trace.end);
  summary.state = summary_of(trace.end);
  return summary;
}

bool requests_anything(const Trace& trace) {
  if (trace.streamed) return trace.streamed->totals().allocs > 0;
  return std::ranges::any_of(trace.ops, is_request);
}

RunPicture recorded_picture(const Trace& trace, std::size_t most_points) {
  RunPicture picture{.to = trace.size()};
  ReducedCurve requested_curve(trace.size() + 1, most_points);
  ReducedCurve reserved_curve(trace.size() + 1, most_points);
  RecordedLevels levels(trace);
  const auto add = [&](std::uint64_t moment) {
    const auto inside = static_cast<std::int64_t>(levels.requested());
    const auto held = static_cast<std::int64_t>(levels.reserved());
    requested_curve.add(moment, inside, inside, held);
    reserved_curve.add(moment, held, held, inside);
  };
  add(0);
  const auto play = [&](std::uint64_t event, Op op, Bytes size) {
    levels.play(event, op, size);
    if (op == Op::oom && picture.ooms.size() < most_points) {
      picture.ooms.push_back({.event = event, .requested = size});
    } else if (op == Op::oom) {
      ++picture.ooms_left_out;
    }
    add(event + 1);
  };
  for_each_block(trace, ColdColumns::of_requests, [&](std::uint64_t first, const auto& events) {
    for (std::size_t i = 0; i < events.ops.size(); ++i) {
      play(first + i, events.ops[i], events.sizes[i]);
    }
    return true;
  });
  if (const auto event = levels.peaks().reserved().event) picture.fullest = *event + 1;
  picture.allocated = requested_curve.points();
  if (shows_reserved(trace)) picture.reserved = reserved_curve.points();
  return picture;
}

}  // namespace memreplay

#include "replay/watch/outputs.hpp"

#include <fmt/format.h>

#include <iterator>
#include <optional>
#include <string_view>

#include "core/units.hpp"

namespace memreplay {
namespace {

/// The curves of a replay at one event.
struct TimelinePoint {
  std::uint64_t event = 0;
  std::optional<std::int64_t> time_us;
  Bytes requested = 0;
  Bytes allocated = 0;
  Bytes reserved = 0;
};

constexpr const char* kTimelineHeader = "event,time_us,requested,allocated,reserved\n";

/// Appends a CSV row; a point without a time leaves its cell empty.
void append_csv(std::string& out, const TimelinePoint& point) {
  auto at = std::back_inserter(out);
  fmt::format_to(at, "{},", point.event);
  if (point.time_us) fmt::format_to(at, "{}", *point.time_us);
  fmt::format_to(at, ",{},{},{}\n", point.requested, point.allocated, point.reserved);
}

constexpr std::uint64_t kNoId = UINT64_MAX;

bool is_replayed(Op op) { return op != Op::oom && !is_driver_event(op); }

char letter(Op op) {
  switch (op) {
    case Op::allocate:
      return 'a';
    case Op::free_completed:
      return 'c';
    case Op::empty_cache:
      return 'e';
    case Op::marker:
      return 'm';
    case Op::safe_frontier:
      return 's';
    default:
      return 'f';
  }
}

}  // namespace

void RowBuffer::flush() {
  out_.write(text_.data(), static_cast<std::streamsize>(text_.size()));
  text_.clear();
}

PlacementRows::PlacementRows(const Trace& trace, std::ostream& out)
    : trace_(trace), id_of_slot_(trace.slot_count, kNoId), rows_(out) {
  rows_.text() += "event,op,id,address,size,allocated,reserved,largest_free\n";
}

void PlacementRows::on_event(const EventState& state, const Strategy& strategy) {
  const Op op = trace_.ops[state.event];
  if (!is_replayed(op)) return;
  const Slot slot = trace_.slots[state.event];
  std::uint64_t id = kNoId;
  if (op == Op::allocate) {
    id = trace_.ids.empty() ? allocations_ : trace_.ids[state.event];
    ++allocations_;
    if (slot != kNoSlot) id_of_slot_[slot] = id;
  } else if (slot != kNoSlot) {
    id = id_of_slot_[slot];
  }
  auto at = std::back_inserter(rows_.text());
  fmt::format_to(at, "{},{},", state.event, letter(op));
  if (id != kNoId) fmt::format_to(at, "{}", id);
  if (state.placement) {
    fmt::format_to(at, ",{},{}", state.placement->address, state.placement->size);
  } else {
    rows_.text() += ",,";
  }
  fmt::format_to(at, ",{},{},{}\n", state.allocated, state.reserved, strategy.free_space().largest);
  rows_.end_row();
}

TimelineRows::TimelineRows(const Trace& trace, std::ostream& out) : trace_(trace), rows_(out) {
  rows_.text() += kTimelineHeader;
}

void TimelineRows::on_event(const EventState& state, const Strategy&) {
  if (!is_replayed(trace_.ops[state.event])) return;
  TimelinePoint point{state.event, {}, state.requested, state.allocated, state.reserved};
  if (!trace_.times_us.empty()) point.time_us = trace_.times_us[state.event];
  append_csv(rows_.text(), point);
  rows_.end_row();
}

DeviceEventRows::DeviceEventRows(const DeviceLog& log, std::ostream& out) : log_(log), rows_(out) {
  rows_.text() += "event,op,address,bytes\n";
}

void DeviceEventRows::on_event(const EventState& state, const Strategy&) {
  for (; written_ < log_.events().size(); ++written_) {
    const DeviceEvent& event = log_.events()[written_];
    fmt::format_to(std::back_inserter(rows_.text()), "{},{},{},{}\n", state.event,
                   driver_name(event.op), event.address, event.bytes);
    rows_.end_row();
  }
}

void write_segments(const Trace& trace, const MemoryState& state, std::ostream& out) {
  out << "address,bytes,device,stream,pool\n";
  for (const SegmentInfo& segment : state.segments) {
    const std::uint64_t stream =
        segment.stream < trace.streams.size() ? trace.streams[segment.stream] : segment.stream;
    out << fmt::format("{},{},{},{},{}\n", segment.address, segment.size, trace.gpu, stream,
                       segment.pool);
  }
}

}  // namespace memreplay

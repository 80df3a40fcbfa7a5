#include "analysis/page/placed_blocks.hpp"

#include <algorithm>
#include <numeric>

namespace memreplay {

PlaceRecorder::PlaceRecorder(const Trace& trace, const TracePicture& picture, const DeviceLog& log)
    : trace_(trace),
      window_(picture.window),
      early_(picture.early),
      lanes_(picture.known_lanes),
      log_(log),
      by_slot_(trace.slot_count),
      block_of_slot_(trace.slot_count, UINT64_MAX) {
  blocks_.reserve(picture.blocks);
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.slot != kNoSlot) by_slot_[block.slot].requested = block.requested;
    }
  }
}

void PlaceRecorder::on_start_block(Slot slot, const Placement& block) {
  by_slot_[slot].address = block.address;
  by_slot_[slot].charged = block.size;
}

void PlaceRecorder::on_start(const EventState& state, const Strategy& strategy) {
  if (state.event > 0) return;
  placed_.keeps_places = !strategy.usage().moves_blocks();
  for (const SegmentInfo& segment : strategy.memory_state().segments) {
    const Op op = segment.expandable ? Op::segment_map : Op::segment_alloc;
    regions_.push_back(
        {0, {op, segment.address, segment.size}, lane_number({segment.stream, segment.pool})});
  }
  placed_.early_regions = regions_.size();
  device_events_ = log_.events().size();
  reserved_.push_back({0, state.reserved});
  peak_ = state.peak_reserved;
  if (window_.from == 0) begin_window();
}

void PlaceRecorder::begin_window() {
  for (const Slot slot : early_) {
    block_of_slot_[slot] = blocks_.size();
    blocks_.push_back(by_slot_[slot]);
  }
}

void PlaceRecorder::on_late_completion(std::uint64_t event, const Placement& block) {
  const auto found = completes_.find(block.address);
  if (found == completes_.end()) return;
  if (event < window_.to) {
    placed_.late_events.step(event);
    placed_.late_blocks.number(found->second);
  }
  completes_.erase(found);
}

void PlaceRecorder::on_event(const EventState& state, const Strategy&) {
  if (!placed_.keeps_places || state.event >= window_.to) return;
  if (state.event == window_.from && state.event > 0) begin_window();
  follow_block(state);
  follow_device(state);
}

void PlaceRecorder::follow_block(const EventState& state) {
  const Op op = trace_.ops[state.event];
  const Slot slot = trace_.slots[state.event];
  const bool shown = window_.from <= state.event;
  if (op == Op::allocate) {
    Place& place = by_slot_[slot];
    place = {.requested = trace_.sizes[state.event]};
    if (state.placement) on_start_block(slot, *state.placement);
    if (!shown) return;
    block_of_slot_[slot] = blocks_.size();
    blocks_.push_back(place);
  } else if (op == Op::free_completed && !state.placement && by_slot_[slot].address && shown) {
    completes_[*by_slot_[slot].address] = block_of_slot_[slot];
  }
}

std::uint64_t PlaceRecorder::lane_number(const Lane& lane) const {
  const auto found = std::ranges::find(lanes_, lane);
  return found == lanes_.end() ? 0 : static_cast<std::uint64_t>(found - lanes_.begin()) + 1;
}

void PlaceRecorder::follow_device(const EventState& state) {
  const bool asks = trace_.ops[state.event] == Op::allocate;
  const std::uint64_t lane = asks ? trace_.lane_of[state.event] + std::uint64_t{1} : 0;
  for (; device_events_ < log_.events().size(); ++device_events_) {
    regions_.push_back({state.event, log_.events()[device_events_], lane});
  }
  const Bytes before = reserved_.back().bytes;
  if (state.reserved != before) reserved_.push_back({state.event, state.reserved});
  if (state.peak_reserved > std::max({peak_, before, state.reserved})) {
    within_.push_back({state.event, state.peak_reserved});
  }
  peak_ = state.peak_reserved;
}

// All addresses are multiples of the unit, counted from the lowest.
void PlaceRecorder::find_unit() {
  Address lowest = UINT64_MAX;
  for (const Place& block : blocks_) lowest = std::min(lowest, block.address.value_or(lowest));
  for (const Region& region : regions_) lowest = std::min(lowest, region.what.address);
  Bytes unit = 0;
  const auto divide = [&](Bytes distance) {
    if (unit == 0 || distance % unit != 0) unit = std::gcd(unit, distance);
  };
  for (const Place& block : blocks_) divide(block.address.value_or(lowest) - lowest);
  for (const Region& region : regions_) divide(region.what.address - lowest);
  placed_.base = lowest == UINT64_MAX ? 0 : lowest;
  placed_.unit = std::max<Bytes>(unit, 1);
}

PlacedBlocks PlaceRecorder::finish() {
  if (!placed_.keeps_places) return std::move(placed_);
  find_unit();
  for (const Place& block : blocks_) {
    placed_.places.number(block.address ? (*block.address - placed_.base) / placed_.unit + 1 : 0);
    if (!block.address) continue;
    placed_.charges.signed_number(static_cast<std::int64_t>(block.charged - block.requested));
  }
  for (const Region& region : regions_) {
    placed_.region_events.step(region.event);
    placed_.region_ops.byte(static_cast<std::uint8_t>(region.what.op));
    placed_.region_addresses.number((region.what.address - placed_.base) / placed_.unit);
    placed_.region_bytes.number(region.what.bytes);
    placed_.region_lanes.number(region.lane);
  }
  for (const Held& held : reserved_) {
    placed_.reserved_events.step(held.event);
    placed_.reserved_bytes.step(held.bytes);
  }
  for (const Held& held : within_) {
    placed_.within_events.step(held.event);
    placed_.within_bytes.step(held.bytes);
  }
  return std::move(placed_);
}

}  // namespace memreplay

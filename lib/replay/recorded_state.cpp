#include "replay/recorded_state.hpp"

namespace memreplay {

RecordedState::RecordedState(const Trace& trace) : trace_(trace), live_(trace.slot_count) {
  for (const SegmentInfo& segment : trace.start.segments) {
    segments_[segment.address] = {segment.size, segment.stream, segment.pool, segment.small_pool,
                                  segment.expandable};
    reserved_ += segment.size;
    for (const BlockInfo& block : segment.blocks) {
      if (block.slot == kNoSlot) continue;
      live_[block.slot] = {.address = block.address,
                           .requested = block.requested,
                           .size = block.size,
                           .state = block.state,
                           .slot = block.slot};
    }
  }
}

void RecordedState::play(std::size_t event) {
  const Slot slot = trace_.slots[event];
  const Address address = trace_.addresses[event];
  const Bytes size = trace_.sizes[event];
  const Lane lane = trace_.lane(event);
  switch (trace_.ops[event]) {
    case Op::allocate:
      live_[slot] = {.address = address, .requested = size, .slot = slot};
      break;
    case Op::free_requested:
      live_[slot].state = BlockState::pending;
      break;
    case Op::free:
    case Op::free_completed:
      live_[slot].slot = kNoSlot;
      break;
    case Op::segment_alloc:
      segments_[address] = {size, lane.stream, lane.pool, size == torch::kSmallBuffer, false};
      reserved_ += size;
      break;
    case Op::segment_free:
      reserved_ -= segments_.erase(address) * size;
      break;
    case Op::segment_map:
      map(event);
      break;
    case Op::segment_unmap:
      unmap(event);
      break;
    default:
      break;
  }
}

// Runs that touch become one where they belong together.
void RecordedState::map(std::size_t event) {
  const Lane lane = trace_.lane(event);
  const Address from = trace_.addresses[event];
  Segment run{trace_.sizes[event], lane.stream, lane.pool,
              trace_.sizes[event] == torch::kSmallBuffer, true};
  reserved_ += run.size;
  const auto joins = [&](const Segment& other) {
    return other.expandable && other.stream == run.stream && other.pool == run.pool &&
           other.small_pool == run.small_pool;
  };
  auto next = segments_.lower_bound(from);
  if (next != segments_.end() && next->first == from + run.size && joins(next->second)) {
    run.size += next->second.size;
    next = segments_.erase(next);
  }
  if (next != segments_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second.size == from && joins(before->second)) {
      before->second.size += run.size;
      return;
    }
  }
  segments_[from] = run;
}

void RecordedState::unmap(std::size_t event) {
  const Address from = trace_.addresses[event];
  const Address to = from + trace_.sizes[event];
  auto run = segments_.upper_bound(from);
  if (run == segments_.begin()) return;
  --run;
  const Address end = run->first + run->second.size;
  if (to > end) return;
  Segment rest = run->second;
  rest.size = end - to;
  run->second.size = from - run->first;
  if (run->second.size == 0) segments_.erase(run);
  if (rest.size > 0) segments_[to] = rest;
  reserved_ -= to - from;
}

MemoryState RecordedState::layout(const torch::Settings& settings, std::uint64_t& unplaced) const {
  std::vector<StartBlock> blocks;
  for (const StartBlock& block : live_) {
    if (block.slot != kNoSlot) blocks.push_back(block);
  }
  const BlockRules rules{.roundup = settings.roundup_power2_divisions,
                         .max_split_size = settings.max_split_size,
                         .expandable = settings.expandable_segments,
                         .request_padding = settings.request_padding};
  MemoryState state = lay_out_start(segments_, blocks, {}, rules, unplaced);
  std::size_t i = 0;
  for (const auto& [address, segment] : segments_) {
    state.segments[i].stream = static_cast<StreamIndex>(segment.stream);
    state.segments[i++].pool = static_cast<PoolIndex>(segment.pool);
  }
  return state;
}

}  // namespace memreplay

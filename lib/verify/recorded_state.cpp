#include "verify/recorded_state.hpp"

namespace memreplay {

RecordedState::RecordedState(const Trace& trace) : trace_(trace), live_(trace.slot_count) {
  for (const SegmentInfo& segment : trace.start.segments) {
    segments_[segment.address] = {segment.size, segment.stream, segment.pool, segment.small_pool,
                                  segment.expandable};
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
      break;
    case Op::segment_free:
      segments_.erase(address);
      break;
    case Op::segment_map:
      map(event);
      break;
    case Op::segment_unmap:
      cut_run(segments_, address, size);
      break;
    default:
      break;
  }
}

// Runs that touch become one where they belong together.
void RecordedState::map(std::size_t event) {
  const Lane lane = trace_.lane(event);
  const Segment run{trace_.sizes[event], lane.stream, lane.pool,
                    trace_.sizes[event] == torch::kSmallBuffer, true};
  add_run(segments_, trace_.addresses[event], run, [&](const Segment& other) {
    return other.expandable && other.stream == run.stream && other.pool == run.pool &&
           other.small_pool == run.small_pool;
  });
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

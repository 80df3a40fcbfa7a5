#include "analysis/recorded/live_blocks.hpp"

#include <algorithm>
#include <tuple>

#include "trace/recorded_levels.hpp"

namespace memreplay {
namespace {

// Age order: from before the trace first, by slot, then by event.
auto age_of(const LiveBlock& block) {
  return std::make_tuple(block.born.has_value(), block.born.value_or(0), block.slot);
}

}  // namespace

std::vector<LiveBlock> live_before(const Trace& trace, std::uint64_t event) {
  std::vector<LiveBlock> by_slot(trace.slot_count);
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state != BlockState::allocated || block.slot == kNoSlot) continue;
      by_slot[block.slot] = {block.slot,   block.requested,        segment.stream,
                             segment.pool, asker_of(trace, block), std::nullopt};
    }
  }
  for (std::uint64_t i = 0; i < event; ++i) {
    const Slot slot = trace.slots[i];
    if (trace.ops[i] == Op::allocate) {
      const Lane lane = trace.lane(i);
      by_slot[slot] = {slot, trace.sizes[i], lane.stream, lane.pool, asker_of(trace, i), i};
    } else if (trace.ops[i] == Op::free || trace.ops[i] == Op::free_requested) {
      by_slot[slot].slot = kNoSlot;
    }
  }
  std::erase_if(by_slot, [](const LiveBlock& block) { return block.slot == kNoSlot; });
  std::ranges::sort(by_slot, {}, age_of);
  return by_slot;
}

std::uint64_t requested_peak(const Trace& trace) {
  RecordedLevels levels(trace);
  for (std::uint64_t i = 0; i < trace.size(); ++i) levels.play(i);
  const auto event = levels.peaks().live().event;
  return event ? *event + 1 : 0;
}

std::vector<PlaceSum> by_place(const std::vector<LiveBlock>& blocks, const Places& places) {
  std::vector<PlaceSum> sums(places.size());
  for (const LiveBlock& block : blocks) {
    PlaceSum& sum = sums[places.of(block.asker)];
    sum.bytes += block.requested;
    ++sum.blocks;
  }
  for (std::uint32_t i = 0; i < sums.size(); ++i) sums[i].place = places.name(i);
  std::erase_if(sums, [](const PlaceSum& sum) { return sum.blocks == 0; });
  std::ranges::sort(sums, [](const PlaceSum& a, const PlaceSum& b) {
    return std::tie(b.bytes, a.place) < std::tie(a.bytes, b.place);
  });
  return sums;
}

}  // namespace memreplay

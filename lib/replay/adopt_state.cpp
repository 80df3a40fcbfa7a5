#include "replay/adopt_state.hpp"

#include <vector>

namespace memreplay {

bool adopt_state(const MemoryState& state, Strategy& strategy, DeviceModel& device,
                 std::span<Placement> by_slot) {
  for (const SegmentInfo& segment : state.segments) {
    device.adopt(segment.address, segment.size, segment.expandable);
  }
  Adoption* const adoption = strategy.abilities().adoption;
  if (adoption == nullptr) return false;
  std::vector<Handle> handles(by_slot.size(), kNoHandle);
  adoption->adopt(state, handles);
  for (const SegmentInfo& segment : state.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::free || block.slot == kNoSlot) continue;
      by_slot[block.slot] = {block.address, block.size, handles[block.slot]};
    }
  }
  return true;
}

}  // namespace memreplay

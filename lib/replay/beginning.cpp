#include "replay/beginning.hpp"

#include "replay/caller.hpp"

namespace memreplay {
namespace {

Begun begin_elsewhere(const Program& program, Strategy& strategy, DeviceModel& device,
                      Caller& caller, const Beginning& begin_with) {
  Begun begun{.exact = false};
  begun.refused_before = begin_with(strategy, device, caller.blocks());
  for (const Program::Block& block : program.blocks) {
    if (block.request.size == 0) continue;
    if (caller.holds(block.slot)) {
      caller.note_there(block);
    } else {
      begun.unserved.push_back(block.request);
    }
  }
  return begun;
}

Begun allocate_blocks(const Program& program, Caller& caller, Watcher* watcher) {
  Begun begun{.exact = false};
  for (const Program::Block& block : program.blocks) {
    if (block.request.size == 0) continue;
    if (!caller.place(0, block.slot, block.request)) {
      begun.unserved.push_back(block.request);
      continue;
    }
    if (block.pending) caller.request_free(0, block.slot, block.request.size);
    if (watcher) watcher->on_start_block(block.slot, caller.block(block.slot));
  }
  return begun;
}

}  // namespace

Begun begin(const Program& program, Strategy& strategy, DeviceModel& device, Caller& caller,
            const PlayOptions& options) {
  if (options.begin_with) {
    return begin_elsewhere(program, strategy, device, caller, options.begin_with);
  }
  const bool starts_empty = program.start->segments.empty();
  if (starts_empty || program.starts_cold) return {.exact = starts_empty};
  if (options.adopt_start && take_over(*program.start, strategy, device, caller.blocks())) {
    for (const Program::Block& block : program.blocks) caller.note_there(block);
    return {};
  }
  return allocate_blocks(program, caller, options.watcher);
}

bool take_over(const MemoryState& state, Strategy& strategy, DeviceModel& device,
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

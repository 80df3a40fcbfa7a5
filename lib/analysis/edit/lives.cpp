#include "analysis/edit/lives.hpp"

namespace memreplay {

bool are_one_operation(const Trace& trace, std::uint64_t earlier, std::uint64_t later) {
  if (stack_at(trace, earlier) != stack_at(trace, later)) return false;
  for (std::uint64_t event = earlier + 1; event < later; ++event) {
    const Op op = trace.ops[event];
    if (op == Op::free || op == Op::free_requested) return false;
  }
  return true;
}

BlockLives lives_of(const Trace& trace) {
  BlockLives lives;
  lives.block_of.assign(trace.size(), BlockLives::kNone);
  std::vector<std::uint32_t> block_in(trace.slot_count, BlockLives::kNone);
  const auto add = [&](const BlockLife& life) {
    block_in[life.slot] = static_cast<std::uint32_t>(lives.blocks.size());
    lives.blocks.push_back(life);
  };
  for (const SegmentInfo& segment : trace.start.segments) {
    for (const BlockInfo& block : segment.blocks) {
      if (block.state == BlockState::free) continue;
      add({.size = block.requested, .stack = block.stack, .slot = block.slot});
    }
  }
  for (std::uint64_t event = 0; event < trace.size(); ++event) {
    const Slot slot = trace.slots[event];
    const Op op = trace.ops[event];
    if (slot == kNoSlot || is_driver_event(op)) continue;
    if (op == Op::allocate) {
      add({.born = event,
           .size = trace.sizes[event],
           .stack = stack_at(trace, event),
           .slot = slot});
    }
    const std::uint32_t block = lives.block_of[event] = block_in[slot];
    if (block == BlockLives::kNone || op == Op::allocate) continue;
    BlockLife& life = lives.blocks[block];
    if (op == Op::free || op == Op::free_requested) life.freed = event;
    if (op == Op::free || op == Op::free_completed) life.completed = event;
    // Requested before the first event.
    if (op == Op::free_completed && life.freed == BlockLife::kNever) life.freed = event;
  }
  return lives;
}

}  // namespace memreplay

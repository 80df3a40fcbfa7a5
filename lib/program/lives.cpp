#include "program/lives.hpp"

namespace memreplay {

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

std::vector<std::uint32_t> operations_of(const Trace& trace, const BlockLives& lives,
                                         const std::vector<std::uint64_t>& allocations) {
  std::vector<std::uint32_t> operations;
  std::uint32_t operation = 0;
  for (std::size_t i = 0; i < allocations.size(); ++i) {
    const std::uint64_t event = allocations[i];
    if (i > 0) {
      const std::uint64_t before = allocations[i - 1];
      const std::uint64_t next = i + 1 < allocations.size() ? allocations[i + 1] : trace.size();
      bool freed = false;
      for (std::uint64_t e = before + 1; e < event; ++e) {
        const std::uint32_t block = lives.block_of[e];
        freed |= block != BlockLives::kNone && lives.blocks[block].freed == e;
      }
      const BlockLife& block = lives.blocks[lives.block_of[event]];
      const bool same_stack = lives.blocks[lives.block_of[before]].stack == block.stack;
      const bool goes_on = same_stack && (!freed || block.freed < next);
      operation += static_cast<std::uint32_t>(!goes_on);
    }
    operations.push_back(operation);
  }
  return operations;
}

}  // namespace memreplay

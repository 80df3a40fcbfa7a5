#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/edit/rewrite.hpp"

namespace memreplay {

/// When the blocks that a forward pass saves for its backward die, had nothing been saved.
enum class Deaths {
  by_scope,    ///< where their last variable, argument or operand ends, told by stacks
  rebound,     ///< the same, but a variable gets another value in the next line
  at_once,     ///< right after the operation that asked for them
  at_the_end,  ///< when the segment ends
};

/// A block with the place at which it dies.
struct Death {
  std::uint32_t block = 0;
  Spot spot;
};

/// Successive allocations.
struct AskedBlocks {
  std::span<const std::uint32_t> blocks;      ///< by birth
  std::span<const std::uint32_t> operations;  ///< by block, see operations_of
};

/// `saved` tells which of the blocks are to die. None dies after the event `end`.
/// O(allocations · frames) and, by scope, O(groups²) at worst.
std::vector<Death> deaths_of(const Recording& recording, const BlockLives& lives,
                             const AskedBlocks& asked, const std::vector<bool>& saved,
                             std::uint64_t end, Deaths how);

}  // namespace memreplay

#pragma once

#include <functional>
#include <optional>
#include <span>

#include "planner/blocks.hpp"

namespace memreplay {

struct EndingsWish {
  double waste = 0.03;     ///< what it costs to leave a gap of the block's own size or more
  bool backwards = false;  ///< from the last time to the first
};

/// For very many blocks: a sweep over time that puts each into the gap, and there beside the block,
/// whose end is nearest to its own (as a part of its length), so that both leave one gap behind.
/// Nothing where `over` says now and then that it is. O(n * live blocks).
std::optional<Packing> place_by_endings(std::span<const PlannedBlock> blocks,
                                        const EndingsWish& wish, const std::function<bool()>& over);

}  // namespace memreplay

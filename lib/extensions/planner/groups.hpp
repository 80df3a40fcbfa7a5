#pragma once

#include <span>

#include "extensions/planner/blocks.hpp"

namespace memreplay {

/// STAlloc's group fit, a model after its description (infinigence/STAlloc, Synthesizer): blocks
/// that are born in one phase and die in one form a group; groups that fill their box of time and
/// bytes are placed as one block, by layers, among the blocks of the others. `phases` are the times
/// at which one begins, ascending. A few hundred layered fits of groups at worst.
Packing group_fit(std::span<const PlannedBlock> blocks, std::span<const std::uint64_t> phases);

/// STAlloc's layered fit (infinigence/STAlloc, Synthesizer): classes of equal size from the largest
/// down go into what earlier layers have free over their lives, and what finds no room there makes
/// layers of its own by interval colouring. O(n * layers) at worst.
Packing layered_fit(std::span<const PlannedBlock> blocks);

}  // namespace memreplay

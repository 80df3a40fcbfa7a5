#pragma once

#include <span>

#include "planner/blocks.hpp"

namespace memreplay {

/// STAlloc's layered fit (infinigence/STAlloc, Synthesizer): classes of equal size from the largest
/// down go into what earlier layers have free over their lives, and what finds no room there makes
/// layers of its own by interval colouring. O(n * layers) at worst.
Packing layered_fit(std::span<const PlannedBlock> blocks);

}  // namespace memreplay

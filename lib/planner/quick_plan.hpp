#pragma once

#include <span>

#include "planner/planner.hpp"

namespace memreplay {

/// More blocks take seconds.
inline constexpr std::size_t kMostBlocksOfQuickPlan = 200'000;

/// Places blocks within what work, not time, allows: the same blocks give the same packing
/// anywhere. Sweeps, orders where few blocks meet, and an exact search of few nodes at the bound.
/// Some tenths of a second for kMostBlocksOfQuickPlan.
PlannedMemory plan_quickly(std::span<const PlannedBlock> blocks, const Control& control);

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <vector>

#include "core/control.hpp"
#include "extensions/planner/problem.hpp"

namespace memreplay {

/// Blocks that cannot be placed together.
struct IrreducibleSet {
  std::vector<std::uint32_t> rows;  ///< ascending
  bool proved = false;              ///< without any one of them the others can
};

/// Blocks that do not fit either, chosen from a problem that is known not to: as few as are found
/// by leaving out one after the other. `seconds`: what is not decided by then stays in.
IrreducibleSet irreducible_set(const PlanningProblem& problem, Bytes capacity, double seconds,
                               const Control& control);

}  // namespace memreplay

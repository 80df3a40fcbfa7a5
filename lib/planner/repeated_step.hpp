#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "planner/problem.hpp"

namespace memreplay {

/// Requests that come again and again, as the steps of a training do.
struct RepeatedStep {
  std::size_t first = 0;   ///< the row with which the repetition begins
  std::size_t length = 0;  ///< rows of a step
  std::size_t rows = 0;    ///< from the first on, of two steps or more

  std::size_t steps() const { return rows / length; }
};

/// The longest run of rows each of which has the size of the one a step before; rows are in the
/// order of their starts. Unset where that is less than a quarter of them. O(n log n).
std::optional<RepeatedStep> repeated_step_of(std::span<const PlannedBlock> blocks);

/// One step as if there were no end of them, between what lives throughout: what outlives its step
/// is there in the beginning of the next. Empty where blocks of two steps do not live equally long.
PlanningProblem problem_of(const RepeatedStep& step, std::span<const PlannedBlock> blocks);

}  // namespace memreplay

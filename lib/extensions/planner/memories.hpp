#pragma once

#include <span>

#include "extensions/planner/planner.hpp"

namespace memreplay {

/// A place for each block in one of several memories.
struct SpreadPacking {
  std::vector<std::size_t> memories;  ///< by block
  std::vector<Bytes> offsets;         ///< by block, in its memory
  std::vector<Bytes> heights;         ///< by memory
};

/// The bound is the peak of bytes in use: all memories together are not smaller. It is found by the
/// order in which they were filled.
struct SpreadPlan : PlannerOutcome {
  std::optional<SpreadPacking> packing;
  std::optional<std::size_t> too_large;  ///< a block that no memory can hold
};

/// Fills memories of these capacities one after the other: where all that is left fits into one, it
/// goes there; else the memory takes as much of it as fits, what has most bytes times life first,
/// and the next one the rest. Where that leaves too much to the last, other orders are tried. Given
/// places count in no memory and are ignored, as is the capacity in `options`.
SpreadPlan plan_memories(const PlanningProblem& problem, std::span<const Bytes> capacities,
                         const PlannerOptions& options, const Control& control);

}  // namespace memreplay

#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "extensions/planner/blocks.hpp"

namespace memreplay {

/// During [from, to) only the bytes [low, high) of a block are in use, none where they are equal.
struct BlockGap {
  std::uint32_t row = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  Bytes low = 0;  ///< counted from the block's offset
  Bytes high = 0;
};

/// What is to be placed.
struct PlanningProblem {
  std::vector<PlannedBlock> blocks;
  std::vector<BlockGap> gaps;                ///< inside their blocks' lives; ascending, apart
  std::vector<std::optional<Bytes>> places;  ///< by row, where it is given; empty: of no block

  std::optional<Bytes> place_of(std::size_t row) const {
    return places.empty() ? std::nullopt : places[row];
  }
  /// Nothing beside lives, sizes and alignments.
  bool plain() const;
};

/// A part of a block's life during which the same bytes of it are in use.
struct BlockUse {
  std::uint32_t row = 0;
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  Bytes low = 0;
  Bytes high = 0;
};

/// Every part of every block's life in which anything of it is in use, by row and time.
std::vector<BlockUse> uses_of(const PlanningProblem& problem);

/// Two blocks (or one twice: a crooked offset, or not the one that is given) that must not lie so;
/// unset where all is sound. A sweep over time, O(n log n).
std::optional<std::pair<std::size_t, std::size_t>> first_conflict(const PlanningProblem& problem,
                                                                  const Packing& packing);

/// No packing is lower: the peak of bytes in use, the holes that alignments force, the top of a
/// block whose place is given. O(n log n).
Bytes lower_bound_of(const PlanningProblem& problem);

/// The problem of these rows alone.
PlanningProblem part_of(const PlanningProblem& problem, std::span<const std::uint32_t> rows);

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

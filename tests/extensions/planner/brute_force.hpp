#pragma once

#include <algorithm>
#include <vector>

#include "extensions/planner/problem.hpp"

namespace memreplay {

/// The lowest height by trying every order in which offsets never fall (rows among equal ones): in
/// some lowest packing each block lies on the highest top below it. Whole blocks alone, no windows.
class BruteForce {
 public:
  explicit BruteForce(const PlanningProblem& problem)
      : problem_(problem), meets_(problem.blocks.size()), offsets_(problem.blocks.size()) {
    const std::vector<BlockUse> uses = uses_of(problem);
    for (const BlockUse& x : uses) {
      Bytes live = 0;
      for (const BlockUse& y : uses) {
        if (y.from <= x.from && x.from < y.to) live += y.high;
        if (x.row != y.row && x.from < y.to && y.from < x.to) meets_[x.row] |= 1u << y.row;
      }
      most_live_ = std::max(most_live_, live);
    }
  }

  /// UINT64_MAX where nothing fits below the places that are given.
  Bytes lowest_height() {
    extend(0, 0, 0, 0);
    return best_;
  }

 private:
  void extend(std::uint32_t placed, Bytes least, std::size_t least_row, Bytes height) {
    if (height >= best_ || best_ == most_live_) return;
    if (placed == (1u << problem_.blocks.size()) - 1) {
      best_ = height;
      return;
    }
    for (std::size_t row = 0; row < problem_.blocks.size(); ++row) {
      if ((placed >> row & 1) != 0) continue;
      const PlannedBlock& block = problem_.blocks[row];
      Bytes at = 0;
      for (std::size_t below = 0; below < problem_.blocks.size(); ++below) {
        if ((placed & meets_[row]) >> below & 1) {
          at = std::max(at, offsets_[below] + problem_.blocks[below].size);
        }
      }
      at = round_up(at, block.alignment);
      const Bytes place = problem_.place_of(row).value_or(at);
      if (at > place) return;  // and it will not sink any more
      if (place < least || (place == least && row < least_row)) continue;
      offsets_[row] = place;
      extend(placed | 1u << row, place, row, std::max(height, place + block.size));
    }
  }

  const PlanningProblem& problem_;
  std::vector<std::uint32_t> meets_;  ///< by row: a bit for each other
  std::vector<Bytes> offsets_;        ///< by placed row
  Bytes most_live_ = 0;
  Bytes best_ = UINT64_MAX;
};

}  // namespace memreplay

#pragma once

#include "extensions/planner/problem.hpp"
#include "extensions/planner/random_blocks.hpp"

namespace memreplay {

struct RandomProblem {
  RandomBlocks blocks;
  bool gaps = false;
  bool places = false;  ///< some are given, so that nothing may fit
};

inline PlanningProblem random_problem(std::mt19937_64& random, const RandomProblem& wish) {
  PlanningProblem problem;
  problem.blocks = random_blocks(random, wish.blocks);
  for (std::uint32_t row = 0; row < problem.blocks.size(); ++row) {
    const PlannedBlock& block = problem.blocks[row];
    if (wish.gaps && block.length() > 2 && random() % 3 == 0) {
      const std::uint64_t from = block.start + random() % block.length();
      problem.gaps.push_back({row, from, from + 1 + random() % (block.end - from), 0, 0});
    }
    if (!wish.places) continue;
    problem.places.emplace_back();
    if (random() % 8 == 0) {
      problem.places.back() = round_up(random() % (2 * wish.blocks.largest), block.alignment);
    }
  }
  return problem;
}

}  // namespace memreplay

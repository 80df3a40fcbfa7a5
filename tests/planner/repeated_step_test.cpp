#include <gtest/gtest.h>

#include "planner/planner.hpp"
#include "planner/problem.hpp"

namespace memreplay {
namespace {

/// Some blocks that come once, then `steps` times 20 sizes of which 16 are those of like layers.
std::vector<PlannedBlock> training(std::size_t steps, std::uint64_t life) {
  std::vector<PlannedBlock> blocks = {{0, 1000, 500}, {1, 3, 70}, {2, 1000, 300}};
  std::uint64_t time = 3;
  for (std::size_t step = 0; step < steps; ++step) {
    for (std::uint64_t i = 0; i < 20; ++i, ++time) {
      blocks.push_back({time, time + life, i < 16 ? 10 + i % 4 : 40 + i});
    }
  }
  return blocks;
}

TEST(RepeatedStep, ATrainingsStepIsFoundAndNotItsLayer) {
  const auto step = repeated_step_of(training(5, 3));
  ASSERT_TRUE(step);
  EXPECT_EQ(step->first, 3u);
  EXPECT_EQ(step->length, 20u);
  EXPECT_EQ(step->rows, 100u);
  EXPECT_EQ(step->steps(), 5u);
}

TEST(RepeatedStep, WhatNeverComesAgainHasNone) {
  std::vector<PlannedBlock> blocks;
  for (std::uint64_t i = 0; i < 100; ++i) blocks.push_back({i, i + 3, i + 1});
  EXPECT_FALSE(repeated_step_of(blocks));
  EXPECT_FALSE(repeated_step_of({}));
}

TEST(RepeatedStep, APlanOfOneStepHoldsWhatIsThereInTheMiddleOfMany) {
  for (const std::uint64_t life : {3u, 17u, 20u, 45u}) {
    const auto blocks = training(8, life);
    const PlanningProblem problem = problem_of(*repeated_step_of(blocks), blocks);
    EXPECT_EQ(lower_bound_of(problem), lower_bound_of(blocks)) << life;
    const PlannedMemory planned = plan_memory(problem, {.seconds = 0.1}, {});
    EXPECT_FALSE(first_conflict(problem, *planned.packing));
  }
}

TEST(RepeatedStep, StepsWhoseBlocksLiveDifferentlyHaveNoPlanInCommon) {
  auto blocks = training(8, 5);
  blocks[3 + 6 * 20 + 4].end += 7;
  EXPECT_TRUE(problem_of(*repeated_step_of(blocks), blocks).blocks.empty());
}

}  // namespace
}  // namespace memreplay

#include "extensions/planner/problem.hpp"

#include <gtest/gtest.h>

#include "extensions/planner/planner.hpp"
#include "extensions/planner/random_problem.hpp"

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

bool sound(const PlanningProblem& problem, std::vector<Bytes> offsets) {
  return !first_conflict(problem, packing_of(problem.blocks, std::move(offsets)));
}

TEST(PlanningProblem, WhatIsNotInUseDuringAGapMakesRoom) {
  EXPECT_FALSE(sound({{{0, 9, 4}, {3, 5, 2}}, {}, {}}, {0, 0}));
  EXPECT_TRUE(sound({{{0, 9, 4}, {3, 5, 2}}, {{0, 2, 6, 0, 0}}, {}}, {0, 0}));
  EXPECT_FALSE(sound({{{0, 9, 4}, {3, 7, 2}}, {{0, 2, 6, 0, 0}}, {}}, {0, 0}));
}

TEST(PlanningProblem, OfAWindowOnlyItsBytesAreInUse) {
  const PlanningProblem problem{{{0, 9, 8}, {3, 5, 2}}, {{0, 2, 6, 2, 5}}, {}};
  EXPECT_TRUE(sound(problem, {0, 0}));
  EXPECT_FALSE(sound(problem, {0, 1}));
  EXPECT_FALSE(sound(problem, {0, 4}));
  EXPECT_TRUE(sound(problem, {0, 5}));
}

TEST(PlanningProblem, AGivenPlaceIsKept) {
  const PlanningProblem problem{{{0, 9, 8}}, {}, {Bytes{4}}};
  EXPECT_TRUE(sound(problem, {4}));
  EXPECT_FALSE(sound(problem, {0}));
  EXPECT_EQ(lower_bound_of(problem), 12u);
}

TEST(PlanningProblem, TheValidatorAgreesWithAllPairsOfUses) {
  std::mt19937_64 random(21);
  int conflicts = 0;
  for (int i = 0; i < 3000; ++i) {
    const PlanningProblem problem =
        random_problem(random, {.blocks = {.count = 2 + random() % 6}, .gaps = true});
    std::vector<Bytes> offsets;
    for (std::size_t b = 0; b < problem.blocks.size(); ++b) offsets.push_back(random() % 60);
    bool expected = false;
    const std::vector<BlockUse> uses = uses_of(problem);
    for (const BlockUse& a : uses) {
      for (const BlockUse& b : uses) {
        if (a.row == b.row || a.from >= b.to || b.from >= a.to) continue;
        expected |= offsets[a.row] + a.low < offsets[b.row] + b.high &&
                    offsets[b.row] + b.low < offsets[a.row] + a.high;
      }
    }
    ASSERT_EQ(sound(problem, offsets), !expected);
    conflicts += expected;
  }
  EXPECT_GT(conflicts, 300);
}

TEST(PlanningProblem, APartHasTheGapsAndPlacesOfItsRows) {
  const PlanningProblem problem{
      {{0, 9, 8}, {3, 5, 2}, {1, 8, 5}}, {{0, 2, 6, 0, 0}, {2, 3, 4, 1, 2}}, {{}, {}, Bytes{7}}};
  const PlanningProblem part = part_of(problem, std::vector<std::uint32_t>{1, 2});
  ASSERT_EQ(part.blocks.size(), 2u);
  EXPECT_EQ(part.blocks[1].size, 5u);
  ASSERT_EQ(part.gaps.size(), 1u);
  EXPECT_EQ(part.gaps[0].row, 1u);
  EXPECT_EQ(part.place_of(1), Bytes{7});
  EXPECT_EQ(part.place_of(0), std::nullopt);
}

}  // namespace

}  // namespace memreplay

#include <gtest/gtest.h>

#include "extensions/planner/brute_force.hpp"
#include "extensions/planner/planner.hpp"
#include "extensions/planner/random_problem.hpp"
#include "extensions/planner/sections.hpp"

namespace memreplay {
namespace {

using Outcome = ContentionSearch::Outcome;

/// Whether it finds a packing; one that it finds is looked at.
bool finds(const PlanningProblem& problem, Bytes capacity) {
  const Sections sections = sections_of(problem);
  ContentionSearch search(problem, sections, capacity);
  Outcome outcome = Outcome::open;
  for (int round = 0; round < 2000 && outcome == Outcome::open; ++round) outcome = search.run(3);
  if (outcome != Outcome::found) return false;
  const Packing packing = packing_of(problem.blocks, search.offsets());
  EXPECT_FALSE(first_conflict(problem, packing));
  EXPECT_LE(packing.height, capacity);
  return true;
}

TEST(ContentionSearch, StacksWhatLivesTogetherAndReusesWhatEnded) {
  const PlanningProblem problem{{{0, 2, 3}, {1, 4, 4}, {3, 5, 3}}, {}, {}};
  EXPECT_TRUE(finds(problem, 7));
  EXPECT_FALSE(finds(problem, 6));
}

TEST(ContentionSearch, NothingToPlaceFitsAnywhere) { EXPECT_TRUE(finds({}, 0)); }

TEST(ContentionSearch, GoesBackWhereTheLongestBlockIsInTheWay) {
  // At 4 the two short blocks of 3 need the bottom at one end and the top at the other.
  const PlanningProblem problem{{{0, 3, 2}, {2, 5, 2}, {0, 2, 3}, {3, 5, 3}, {0, 5, 1}}, {}, {}};
  EXPECT_TRUE(finds(problem, BruteForce(problem).lowest_height()));
}

TEST(ContentionSearch, FindsNothingBelowBruteForceAndMostOfTheTimeAsMuch) {
  std::mt19937_64 random(21);
  int instances = 0;
  int found = 0;
  for (int i = 0; i < 1500; ++i) {
    const RandomBlocks blocks = {.count = 2 + random() % 8,
                                 .last_time = 4 + random() % 16,
                                 .largest = 2 + random() % 12,
                                 .alignments = i % 3 == 0 ? 3 : 1};
    const PlanningProblem problem =
        random_problem(random, {.blocks = blocks, .gaps = i % 5 == 1, .places = i % 7 == 2});
    SCOPED_TRACE(i);
    const Bytes lowest = BruteForce(problem).lowest_height();
    if (lowest == UINT64_MAX) {
      ASSERT_FALSE(finds(problem, 1000));
      continue;
    }
    ASSERT_FALSE(finds(problem, lowest - 1));
    ++instances;
    found += finds(problem, lowest);
  }
  EXPECT_GT(found, instances * 9 / 10);
}

TEST(ContentionSearch, AsASolverItIsSoundAndBelowWhatIsGreedy) {
  std::mt19937_64 random(22);
  int lower = 0;
  for (int i = 0; i < 40; ++i) {
    const PlanningProblem problem =
        random_problem(random, {.blocks = {.count = 30, .last_time = 40}});
    const PlannedMemory greedy =
        plan_memory(problem, {.seconds = 60, .solver = PlanSolver::greedy}, {});
    const PlannedMemory found =
        plan_memory(problem, {.seconds = 0.2, .solver = PlanSolver::contention}, {});
    ASSERT_FALSE(first_conflict(problem, *found.packing));
    ASSERT_LE(found.packing->height, greedy.packing->height);
    lower += found.packing->height < greedy.packing->height;
  }
  EXPECT_GT(lower, 0);
}

}  // namespace
}  // namespace memreplay

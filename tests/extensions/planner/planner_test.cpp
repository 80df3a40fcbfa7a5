#include "extensions/planner/planner.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>

#include "extensions/planner/brute_force.hpp"
#include "extensions/planner/irreducible.hpp"
#include "extensions/planner/random_blocks.hpp"
#include "extensions/planner/random_problem.hpp"

namespace memreplay {
namespace {

TEST(QuickPlan, IsSoundAndTheSameEveryTime) {
  std::mt19937_64 random(41);
  int proved = 0;
  for (int i = 0; i < 30; ++i) {
    const auto blocks =
        random_blocks(random, {.count = 25, .last_time = 30, .alignments = 1 + i % 2});
    const PlannedMemory found = plan_quickly(blocks, {});
    ASSERT_FALSE(first_conflict(blocks, *found.packing));
    ASSERT_GE(found.packing->height, found.lower_bound);
    ASSERT_EQ(found.packing->offsets, plan_quickly(blocks, {}).packing->offsets);
    proved += found.optimal();
  }
  EXPECT_GT(proved, 15);
}

TEST(QuickPlan, ProvesThatTheBoundCannotBeReached) {
  std::mt19937_64 random(42);
  int above = 0;
  for (int i = 0; i < 500; ++i) {
    const auto blocks = random_blocks(random, {.count = 9, .alignments = 1 + i % 2});
    const PlannedMemory found = plan_quickly(blocks, {});
    above += found.lower_bound > lower_bound_of(blocks);
    EXPECT_LE(found.lower_bound, found.packing->height);
  }
  EXPECT_GT(above, 0);
}

TEST(QuickPlan, CostsMoreWhereMoreBlocksMeet) {
  const auto cost = [](std::size_t count, std::uint64_t lasts) {
    std::vector<PlannedBlock> blocks;
    for (std::uint64_t i = 0; i < count; ++i) blocks.push_back({i, i + lasts, 512, 1});
    return events_of_quick_plan(blocks);
  };
  EXPECT_LT(cost(1000, 2), cost(1000, 500));
  EXPECT_LT(cost(1000, 500), cost(8000, 8000));
  EXPECT_GE(cost(8000, 8000), 5 * 8000u);
}

TEST(QuickPlan, SizesThatDoNotAddUpAreNoMatter) {
  const std::vector<PlannedBlock> blocks(5, {0, 2, (Bytes{1} << 50) - 1, 1});
  EXPECT_EQ(plan_quickly(blocks, {}).packing->height, 5 * ((Bytes{1} << 50) - 1));
}

TEST(QuickPlan, WhoeverStopsItGetsAPlan) {
  const std::atomic<bool> stopped = true;
  const std::vector<PlannedBlock> blocks = {{0, 2, 3, 1}, {1, 3, 4, 1}};
  const PlannedMemory found = plan_quickly(blocks, {.stop = &stopped, .progress = {}});
  EXPECT_TRUE(found.packing);
}

TEST(QuickPlan, OfNothingIsNothing) { EXPECT_EQ(plan_quickly({}, {}).packing->height, 0u); }

PlannedMemory planned(const PlanningProblem& problem, PlannerOptions options = {}) {
  options.seconds = 60;
  return plan_memory(problem, options, {});
}

TEST(Planner, FindsTheLowestHeightOfSmallInstances) {
  std::mt19937_64 random(31);
  int above_the_live_peak = 0;
  for (int i = 0; i < 300; ++i) {
    const PlanningProblem problem =
        random_problem(random, {.blocks = {.count = 2 + random() % 8, .alignments = 1 + i % 2},
                                .gaps = i % 5 == 0,
                                .places = i % 7 == 0});
    const Bytes lowest = BruteForce(problem).lowest_height();
    const Bytes bound = lower_bound_of(problem);
    const PlannedMemory found = planned(problem);
    if (lowest == UINT64_MAX) {
      ASSERT_TRUE(found.impossible);
      continue;
    }
    ASSERT_TRUE(found.optimal());
    ASSERT_EQ(found.packing->height, lowest);
    ASSERT_FALSE(first_conflict(problem, *found.packing));
    above_the_live_peak += lowest > bound;
  }
  EXPECT_GT(above_the_live_peak, 10);
}

TEST(Planner, ManyThreadsFindTheSame) {
  std::mt19937_64 random(32);
  for (int i = 0; i < 30; ++i) {
    const PlanningProblem problem =
        random_problem(random, {.blocks = {.count = 20, .last_time = 30}});
    const PlannedMemory one = planned(problem);
    const PlannedMemory three = planned(problem, {.threads = 3});
    ASSERT_TRUE(one.optimal());
    ASSERT_EQ(one.packing->offsets, three.packing->offsets);
  }
}

TEST(Planner, WithinACapacityItNeedNotBeTheLowest) {
  const PlanningProblem problem{{{0, 2, 3}, {1, 3, 4}}, {}, {}};
  EXPECT_LE(planned(problem, {.capacity = 9}).packing->height, 9u);
  EXPECT_EQ(planned(problem, {.capacity = 9, .minimise = true}).packing->height, 7u);
  const PlannedMemory none = planned(problem, {.capacity = 6});
  EXPECT_TRUE(none.impossible);
  EXPECT_FALSE(none.packing);
  EXPECT_EQ(none.lower_bound, 7u);
}

TEST(Planner, EverySolverHonoursThePlacesThatAreGiven) {
  std::mt19937_64 random(35);
  int placed = 0;
  for (int i = 0; i < 120; ++i) {
    const PlanSolver solver = std::array{PlanSolver::greedy, PlanSolver::improve, PlanSolver::exact,
                                         PlanSolver::contention}[i % 4];
    const PlanningProblem problem = random_problem(
        random,
        {.blocks = {.count = 6, .alignments = 1 + i % 3 / 2}, .gaps = i % 5 == 0, .places = true});
    const PlannedMemory found = plan_memory(problem, {.seconds = 0.02, .solver = solver}, {});
    ASSERT_EQ(found.impossible, BruteForce(problem).lowest_height() == UINT64_MAX) << i;
    ASSERT_EQ(found.packing.has_value(), !found.impossible) << i;
    if (found.impossible) continue;
    ASSERT_FALSE(first_conflict(problem, *found.packing)) << i;
    placed +=
        std::ranges::any_of(problem.places, [](const auto& place) { return place.has_value(); });
  }
  EXPECT_GT(placed, 20);
}

TEST(Planner, WhoeverStopsItGetsWhatThereIs) {
  const std::atomic<bool> stopped = true;
  const PlanningProblem problem{{{0, 2, 3}, {1, 3, 4}}, {}, {}};
  const PlannedMemory found = plan_memory(problem, {}, {.stop = &stopped, .progress = {}});
  EXPECT_TRUE(found.interrupted);
  ASSERT_TRUE(found.packing);
}

TEST(Planner, NothingToPlaceIsNoHeight) { EXPECT_EQ(planned({}).packing->height, 0u); }

TEST(IrreducibleSet, EachOfItsMembersIsNeeded) {
  std::mt19937_64 random(34);
  int larger_than_an_instant = 0;
  for (int i = 0; i < 150; ++i) {
    const PlanningProblem problem =
        random_problem(random, {.blocks = {.count = 4 + random() % 9}, .gaps = i % 3 == 0});
    const PlannedMemory lowest = planned(problem);
    const Bytes capacity = lowest.packing->height - 1;
    const IrreducibleSet set = irreducible_set(problem, capacity, 60, {});
    ASSERT_TRUE(set.proved);
    ASSERT_TRUE(planned(part_of(problem, set.rows), {.capacity = capacity}).impossible);
    larger_than_an_instant += lower_bound_of(part_of(problem, set.rows)) <= capacity;
    for (std::size_t out = 0; out < set.rows.size(); ++out) {
      std::vector<std::uint32_t> rows = set.rows;
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(out));
      ASSERT_TRUE(planned(part_of(problem, rows), {.capacity = capacity}).packing);
    }
  }
  EXPECT_GT(larger_than_an_instant, 3);
}

}  // namespace

}  // namespace memreplay

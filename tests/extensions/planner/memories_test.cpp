#include "extensions/planner/memories.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "extensions/planner/random_problem.hpp"

namespace memreplay {
namespace {

/// No two blocks of one memory lie on the same bytes at the same time, none above its capacity.
bool valid(const PlanningProblem& problem, const std::vector<Bytes>& capacities,
           const SpreadPacking& packing) {
  for (std::size_t memory = 0; memory < capacities.size(); ++memory) {
    std::vector<std::uint32_t> rows;
    std::vector<Bytes> offsets;
    for (std::uint32_t row = 0; row < problem.blocks.size(); ++row) {
      if (packing.memories[row] != memory) continue;
      rows.push_back(row);
      offsets.push_back(packing.offsets[row]);
    }
    const PlanningProblem part = part_of(problem, rows);
    const Packing here = packing_of(part.blocks, std::move(offsets));
    if (first_conflict(part, here) || here.height > capacities[memory]) return false;
    if (here.height != packing.heights[memory]) return false;
  }
  return std::ranges::all_of(packing.memories, [&](auto m) { return m < capacities.size(); });
}

TEST(PlanMemories, EveryPlanIsSoundInEachMemory) {
  std::mt19937_64 random(51);
  int planned = 0;
  for (int i = 0; i < 200; ++i) {
    const PlanningProblem problem = random_problem(
        random, {.blocks = {.count = 20, .alignments = 1 + i % 3}, .gaps = i % 3 == 0});
    const Bytes bound = lower_bound_of(problem);
    const std::vector<Bytes> capacities = {bound / 2, bound / 4, bound / 2 + random() % 20};
    const SpreadPlan found = plan_memories(problem, capacities, {.seconds = 0.5}, {});
    if (!found.packing) continue;
    ++planned;
    ASSERT_FALSE(found.impossible);
    ASSERT_TRUE(valid(problem, capacities, *found.packing));
  }
  EXPECT_GT(planned, 100);
}

TEST(PlanMemories, WhereAllFitsIntoTheFirstAllGoesThere) {
  const PlanningProblem problem{{{0, 2, 3}, {1, 3, 4}, {2, 4, 3}}, {}, {}};
  const SpreadPlan found = plan_memories(problem, std::vector<Bytes>{7, 100}, {}, {});
  ASSERT_TRUE(found.packing);
  EXPECT_EQ(found.packing->memories, (std::vector<std::size_t>{0, 0, 0}));
  EXPECT_EQ(found.packing->heights, (std::vector<Bytes>{7, 0}));
}

TEST(PlanMemories, TheFirstTakesWhatHasMostBytesTimesLife) {
  const PlanningProblem problem{{{0, 2, 4}, {0, 9, 3}, {0, 9, 4}}, {}, {}};
  const SpreadPlan found = plan_memories(problem, std::vector<Bytes>{7, 4}, {}, {});
  ASSERT_TRUE(found.packing);
  EXPECT_EQ(found.packing->memories, (std::vector<std::size_t>{1, 0, 0}));
}

TEST(PlanMemories, AnotherOrderIsTriedWhereTheFirstLeavesTooMuch) {
  // By bytes times life the first memory takes 3 and leaves 4, which the second cannot hold.
  const PlanningProblem problem{{{0, 9, 3}, {0, 2, 4}}, {}, {}};
  const std::vector<Bytes> capacities = {4, 3};
  const SpreadPlan found = plan_memories(problem, capacities, {}, {});
  ASSERT_TRUE(found.packing);
  EXPECT_TRUE(valid(problem, capacities, *found.packing));
  EXPECT_EQ(found.found_by, "size/best");
}

TEST(PlanMemories, SaysWhatIsImpossible) {
  const PlanningProblem problem{{{0, 2, 3}, {1, 3, 4}}, {}, {}};
  const SpreadPlan full = plan_memories(problem, std::vector<Bytes>{4, 2}, {}, {});
  EXPECT_TRUE(full.impossible);
  EXPECT_FALSE(full.packing);
  EXPECT_FALSE(full.too_large);
  EXPECT_EQ(full.lower_bound, 7u);
  const SpreadPlan large = plan_memories(problem, std::vector<Bytes>{3, 3, 3}, {}, {});
  EXPECT_TRUE(large.impossible);
  EXPECT_EQ(large.too_large, 1u);
}

TEST(PlanMemories, NothingProvedIsNotImpossible) {
  // Six bytes live at once, but no pair of memories of three can hold blocks of two.
  const PlanningProblem problem{{{0, 1, 2}, {0, 1, 2}, {0, 1, 2}}, {}, {}};
  const SpreadPlan found = plan_memories(problem, std::vector<Bytes>{3, 3}, {.seconds = 0.1}, {});
  EXPECT_FALSE(found.packing);
  EXPECT_FALSE(found.impossible);
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include <atomic>

#include "planner/planner.hpp"
#include "planner/random_blocks.hpp"

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

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include "planner/groups.hpp"
#include "planner/random_blocks.hpp"

namespace memreplay {
namespace {

TEST(LayeredFit, BlocksOfOneSizeTakeTurnsInALayer) {
  const std::vector<PlannedBlock> blocks = {{0, 2, 4}, {2, 5, 4}, {1, 3, 4}, {3, 4, 4}};
  EXPECT_EQ(layered_fit(blocks).offsets, (std::vector<Bytes>{0, 0, 4, 4}));
}

TEST(LayeredFit, SmallerBlocksStackUpWhereALayerIsFree) {
  const std::vector<PlannedBlock> blocks = {{0, 2, 8}, {2, 4, 4}, {3, 5, 3}, {1, 5, 2}};
  const Packing packing = layered_fit(blocks);
  EXPECT_EQ(packing.offsets, (std::vector<Bytes>{0, 0, 4, 8}));
  EXPECT_EQ(packing.height, 10u);
}

TEST(LayeredFit, ABlockThatFoundNoLayerComesFirstInTheNextTry) {
  const std::vector<PlannedBlock> blocks = {{0, 2, 8}, {2, 4, 4}, {3, 6, 4}, {5, 8, 4}};
  EXPECT_EQ(layered_fit(blocks).height, 8u);
}

TEST(LayeredFit, IsSoundOnRandomBlocks) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 600; ++i) {
    const auto blocks = random_blocks(random, {.count = 1 + random() % 60,
                                               .last_time = 40,
                                               .largest = 1 + random() % 12,
                                               .alignments = 1 + i % 3});
    const Packing packing = layered_fit(blocks);
    ASSERT_FALSE(first_conflict(blocks, packing));
    ASSERT_GE(packing.height, lower_bound_of(blocks));
  }
}

}  // namespace
}  // namespace memreplay

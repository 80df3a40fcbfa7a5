#include "extensions/planner/groups.hpp"

#include <gtest/gtest.h>

#include "extensions/planner/random_blocks.hpp"

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

TEST(GroupFit, AGroupThatFillsItsBoxIsPlacedAsOneBlock) {
  // The blocks of 3 and 2 are one box of 5, above which the long one lies; layers put it between
  // them.
  const std::vector<PlannedBlock> blocks = {{0, 4, 3}, {0, 4, 2}, {0, 8, 3}};
  const std::vector<std::uint64_t> phases = {0, 4};
  EXPECT_EQ(group_fit(blocks, phases).offsets, (std::vector<Bytes>{0, 3, 5}));
  EXPECT_EQ(layered_fit(blocks).offsets, (std::vector<Bytes>{0, 6, 3}));
}

TEST(GroupFit, OneThatLeavesMostOfItsBoxFreeIsPlacedBlockByBlock) {
  const std::vector<PlannedBlock> blocks = {{0, 8, 4}, {0, 1, 4}, {1, 8, 4}, {0, 8, 1}, {1, 2, 9}};
  EXPECT_EQ(group_fit(blocks, std::vector<std::uint64_t>{0}).offsets, layered_fit(blocks).offsets);
}

TEST(GroupFit, BoxesThatPartlyOverlapAreFusedWhereThatFillsMore) {
  // Apart the boxes take 4 bytes each, and both live at 4; together one begins where one ends.
  const std::vector<PlannedBlock> blocks = {{0, 6, 2}, {0, 4, 2}, {4, 10, 2}, {6, 10, 2}};
  const Packing packing = group_fit(blocks, std::vector<std::uint64_t>{0, 3, 7});
  EXPECT_FALSE(first_conflict(blocks, packing));
  EXPECT_EQ(packing.height, 4u);
}

TEST(GroupFit, WithOnePhaseItIsTheLayeredFit) {
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) {
    const auto blocks = random_blocks(random, {.count = 1 + random() % 30});
    EXPECT_EQ(group_fit(blocks, {}).height, layered_fit(blocks).height);
  }
}

TEST(GroupFit, IsSoundOnRandomBlocks) {
  std::mt19937_64 random(6);
  int lower = 0;
  for (int i = 0; i < 600; ++i) {
    const auto blocks = random_blocks(random, {.count = 1 + random() % 60,
                                               .last_time = 40,
                                               .largest = 1 + random() % 12,
                                               .alignments = 1 + i % 3});
    std::vector<std::uint64_t> phases;
    for (std::uint64_t time = random() % 8; time < 40; time += 1 + random() % 12) {
      phases.push_back(time);
    }
    const Packing packing = group_fit(blocks, phases);
    ASSERT_FALSE(first_conflict(blocks, packing));
    ASSERT_GE(packing.height, lower_bound_of(blocks));
    lower += packing.height < layered_fit(blocks).height;
  }
  EXPECT_GT(lower, 10);
}

}  // namespace

}  // namespace memreplay

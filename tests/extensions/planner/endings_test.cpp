#include "extensions/planner/endings.hpp"

#include <gtest/gtest.h>

#include "extensions/planner/random_blocks.hpp"

namespace memreplay {
namespace {

bool never() { return false; }

TEST(PlaceByEndings, ABlockLiesBesideTheOneThatEndsWithIt) {
  // From the bottom up at first; then the ends of the first and the third leave gaps.
  const std::vector<PlannedBlock> blocks = {{0, 1, 4}, {0, 9, 3}, {0, 1, 2}, {0, 5, 1}, {1, 5, 1}};
  const auto packing = place_by_endings(blocks, {}, never);
  ASSERT_TRUE(packing);
  EXPECT_EQ(packing->offsets, (std::vector<Bytes>{0, 4, 7, 9, 8}));
}

TEST(PlaceByEndings, PackingsAreSoundInBothDirections) {
  std::mt19937_64 random(41);
  for (int i = 0; i < 500; ++i) {
    const auto blocks = random_blocks(
        random, {.count = 1 + random() % 60, .last_time = 40, .alignments = 1 + i % 5});
    const auto packing = place_by_endings(blocks, {.waste = 0.3, .backwards = i % 2 == 0}, never);
    ASSERT_TRUE(packing);
    ASSERT_FALSE(first_conflict(blocks, *packing));
  }
}

TEST(PlaceByEndings, VeryManyBlocksComeCloseToTheBound) {
  std::mt19937_64 random(42);
  std::vector<PlannedBlock> blocks;
  for (std::uint64_t i = 0; i < 20'000; ++i) {
    const std::uint64_t start = random() % 20'000;
    blocks.push_back({start, start + 1 + random() % 1000, 1 + random() % 1'000'000});
  }
  const double bound = static_cast<double>(lower_bound_of(blocks));
  EXPECT_LT(static_cast<double>(place_by_endings(blocks, {}, never)->height), 1.05 * bound);
}

TEST(PlaceByEndings, ItEndsWhenItIsOver) {
  EXPECT_FALSE(place_by_endings(std::vector<PlannedBlock>{{0, 1, 4}}, {}, [] { return true; }));
}

}  // namespace
}  // namespace memreplay

#include "extensions/planner/blocks.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "extensions/planner/ordered.hpp"
#include "extensions/planner/random_blocks.hpp"

namespace memreplay {
namespace {

TEST(FreeDuring, WhatNoBlockTakesAtAnyTimeOfTheSpan) {
  const std::vector<PlannedBlock> blocks = {{0, 4, 3}, {4, 8, 2}, {2, 5, 2}};
  const Packing packing = packing_of(blocks, {0, 0, 4});
  const std::vector<TimeSpan> spans = {{0, 2}, {1, 3}, {4, 5}, {5, 9}, {8, 9}};
  EXPECT_EQ(
      free_during(blocks, packing, spans),
      (std::vector<std::vector<Plan::Range>>{{{3, 6}}, {{3, 4}}, {{2, 4}}, {{2, 6}}, {{0, 6}}}));
}

TEST(FreeDuring, IsWhatAModelByteByByteFinds) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 200; ++i) {
    const auto blocks = random_blocks(random, {.count = 1 + random() % 20});
    const Packing packing =
        place_in_order(blocks, placing_order(blocks, PlacingOrder::start), PlacingFit::first);
    std::vector<TimeSpan> spans;
    for (std::uint64_t from = 0; from < 20; from += random() % 6) {
      spans.push_back({from, from + 1 + random() % 8});
    }
    const auto free = free_during(blocks, packing, spans);
    for (std::size_t span = 0; span < spans.size(); ++span) {
      std::vector<bool> expected(packing.height, true), found(packing.height, false);
      for (std::size_t row = 0; row < blocks.size(); ++row) {
        if (blocks[row].start >= spans[span].to || blocks[row].end <= spans[span].from) continue;
        for (Bytes at = 0; at < blocks[row].size; ++at) expected[packing.offsets[row] + at] = false;
      }
      for (const Plan::Range& range : free[span]) {
        for (Bytes at = range.from; at < range.to; ++at) found[at] = true;
      }
      ASSERT_EQ(found, expected);
    }
  }
}

bool sound(const std::vector<PlannedBlock>& blocks, std::vector<Bytes> offsets) {
  return !first_conflict(blocks, packing_of(blocks, std::move(offsets)));
}

TEST(Packing, BlocksAboveEachOtherAreSound) {
  EXPECT_TRUE(sound({{0, 2, 3}, {1, 3, 4}}, {0, 3}));
  EXPECT_EQ(packing_of(std::vector<PlannedBlock>{{0, 2, 3}, {1, 3, 4}}, {0, 3}).height, 7u);
}

TEST(Packing, AnOverlapInTimeAndSpaceIsAConflict) {
  EXPECT_FALSE(sound({{0, 2, 3}, {1, 3, 4}}, {0, 2}));
  EXPECT_FALSE(sound({{0, 2, 3}, {1, 3, 4}}, {3, 0}));
  EXPECT_FALSE(sound({{0, 2, 3}, {1, 3, 3}}, {0, 0}));
}

TEST(Packing, WhatEndsMakesRoomForWhatStartsThen) {
  EXPECT_TRUE(sound({{0, 2, 3}, {2, 3, 4}}, {0, 0}));
}

TEST(Packing, ACrookedOffsetIsAConflict) {
  EXPECT_FALSE(sound({{0, 2, 3, 4}}, {2}));
  EXPECT_TRUE(sound({{0, 2, 3, 4}}, {8}));
}

TEST(Packing, TheValidatorAgreesWithAllPairs) {
  std::mt19937_64 random(1);
  int conflicts = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto blocks = random_blocks(random, {.count = 2 + random() % 6});
    std::vector<Bytes> offsets;
    for (std::size_t b = 0; b < blocks.size(); ++b) offsets.push_back(random() % 60);
    bool expected = false;
    for (std::size_t a = 0; a < blocks.size(); ++a) {
      for (std::size_t b = a + 1; b < blocks.size(); ++b) {
        expected |= blocks[a].overlaps(blocks[b]) && offsets[a] < offsets[b] + blocks[b].size &&
                    offsets[b] < offsets[a] + blocks[a].size;
      }
    }
    ASSERT_EQ(sound(blocks, offsets), !expected);
    conflicts += expected;
  }
  EXPECT_GT(conflicts, 300);
}

TEST(LowerBound, IsThePeakOfLiveBytes) {
  EXPECT_EQ(lower_bound_of(std::vector<PlannedBlock>{}), 0u);
  EXPECT_EQ(lower_bound_of(std::vector<PlannedBlock>{{0, 2, 3}, {1, 3, 4}, {2, 4, 5}}), 9u);
}

TEST(LowerBound, AlignmentsForceHolesUnderAllButTheTopmost) {
  EXPECT_EQ(lower_bound_of(std::vector<PlannedBlock>{{0, 2, 1, 4}, {0, 2, 1, 4}}), 5u);
  EXPECT_EQ(lower_bound_of(std::vector<PlannedBlock>{{0, 2, 1, 4}, {0, 2, 3, 1}}), 4u);
}

/// Every block on the highest top of those placed before that it overlaps; some order is best.
Bytes lowest_height(const std::vector<PlannedBlock>& blocks) {
  std::vector<std::size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  Bytes lowest = UINT64_MAX;
  do {
    std::vector<Bytes> offsets(blocks.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      Bytes top = 0;
      for (std::size_t j = 0; j < i; ++j) {
        if (!blocks[order[i]].overlaps(blocks[order[j]])) continue;
        top = std::max(top, offsets[order[j]] + blocks[order[j]].size);
      }
      offsets[order[i]] = round_up(top, blocks[order[i]].alignment);
    }
    lowest = std::min(lowest, packing_of(blocks, offsets).height);
  } while (std::next_permutation(order.begin(), order.end()));
  return lowest;
}

TEST(LowerBound, IsNeverAboveTheLowestHeight) {
  std::mt19937_64 random(2);
  int reached = 0;
  constexpr int kInstances = 1500;
  for (int i = 0; i < kInstances; ++i) {
    const auto blocks = random_blocks(random, {.count = 2 + random() % 5, .alignments = 1 + i % 4});
    const Bytes lowest = lowest_height(blocks);
    ASSERT_LE(lower_bound_of(blocks), lowest);
    reached += lower_bound_of(blocks) == lowest;
  }
  EXPECT_GT(reached, kInstances / 2);
}

TEST(OwnTimes, CountTheMomentsAtWhichABlockStartsOrEnds) {
  const auto blocks = at_own_times({{0, 9, 1}, {4, 7, 2}, {7, UINT64_MAX, 3}});
  EXPECT_EQ(blocks[0].start, 0u);
  EXPECT_EQ(blocks[0].end, 3u);
  EXPECT_EQ(blocks[1].start, 1u);
  EXPECT_EQ(blocks[1].end, 2u);
  EXPECT_EQ(blocks[2].start, 2u);
  EXPECT_EQ(blocks[2].end, 4u);
}

}  // namespace

}  // namespace memreplay

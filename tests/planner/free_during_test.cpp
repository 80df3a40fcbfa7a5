#include <gtest/gtest.h>

#include "planner/blocks.hpp"
#include "planner/ordered.hpp"
#include "planner/random_blocks.hpp"

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

}  // namespace
}  // namespace memreplay

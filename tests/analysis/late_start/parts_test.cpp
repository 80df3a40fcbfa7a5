#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/late_start/late_trace.hpp"
#include "analysis/late_start/rehearsal.hpp"

namespace memreplay {
namespace {

std::vector<bool> founders(const WarmParts& parts) {
  std::vector<bool> founders;
  for (const EarlierBlock& block : parts.blocks) founders.push_back(block.founder);
  return founders;
}

using Answers = std::vector<bool>;

TEST(WarmParts, ABlockThatBeginsASegmentOfItsSizeFoundedIt) {
  LateTrace trace;
  trace.segment(40 * kMiB).live(39 * kMiB).live(kMiB);
  EXPECT_EQ(founders(trace.parts()), (Answers{true, false}));
}

TEST(WarmParts, ABlockThatBeginsALargerSegmentIsAGuest) {
  LateTrace trace;
  trace.segment(60 * kMiB).live(30 * kMiB).free_space(30 * kMiB);
  EXPECT_EQ(founders(trace.parts()), (Answers{false}));
}

TEST(WarmParts, AStandardSegmentThatBeginsAliveWasFilledEarly) {
  LateTrace trace;
  trace.segment(20 * kMiB).live(4 * kMiB).free_space(4 * kMiB).live(8 * kMiB);
  trace.segment(20 * kMiB).free_space(12 * kMiB).live(8 * kMiB);
  EXPECT_EQ(founders(trace.parts()), (Answers{true, true, false}));
}

TEST(WarmParts, SmallBlocksAreFounders) {
  LateTrace trace;
  trace.segment(2 * kMiB, true).free_space(kMiB).live(kMiB);
  EXPECT_EQ(founders(trace.parts()), (Answers{true}));
}

TEST(WarmParts, InExpandableMemoryWhatLiesBehindAHoleCameLater) {
  LateTrace trace;
  trace.segment(100 * kMiB, false, true).live(40 * kMiB).free_space(512);
  trace.live(10 * kMiB).free_space(20 * kMiB).live(5 * kMiB);
  EXPECT_EQ(founders(trace.parts()), (Answers{true, true, false}));
}

TEST(WarmParts, ALargeSegmentWithoutItsFounderStoodForARequestOfItsSize) {
  LateTrace trace;
  trace.segment(60 * kMiB).live(8 * kMiB).free_space(52 * kMiB);
  trace.segment(20 * kMiB).free_space(20 * kMiB);
  trace.segment(40 * kMiB).live(40 * kMiB);
  const WarmParts parts = trace.parts();
  ASSERT_EQ(parts.idle_segments.size(), 1u);
  EXPECT_EQ(parts.idle_segments[0].size, 60 * kMiB);
  EXPECT_EQ(parts.reserved, 120 * kMiB);
}

TEST(WarmParts, ABlockThatIsFreedIsPassingAlsoWhereItsSlotIsUsedAgain) {
  LateTrace trace;
  trace.segment(40 * kMiB).live(40 * kMiB).segment(30 * kMiB).live(30 * kMiB);
  trace.free(1).alloc(1, 512).free(1).alloc(2, 512).free(2);
  const WarmParts parts = trace.parts();
  EXPECT_TRUE(parts.blocks[0].persistent);
  EXPECT_FALSE(parts.blocks[1].persistent);
}

TEST(WarmParts, RequestsOfThePersistentSizesAndTinyOnesDoNotScale) {
  LateTrace trace;
  trace.segment(40 * kMiB).live(40 * kMiB);
  trace.alloc(1, 30 * kMiB).alloc(2, 40 * kMiB).alloc(3, 4095).alloc(4, 40 * kMiB - 1);
  const WarmParts parts = trace.parts();
  EXPECT_EQ(parts.scalable, (std::vector<std::uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(parts.largest_scalable, 30 * kMiB);
}

TEST(WarmParts, TheLargestSegmentThatTheModelDoesNotExplainShowsTheLargestStep) {
  LateTrace trace;
  trace.segment(100 * kMiB).live(100 * kMiB);        // the model's
  trace.segment(200 * kMiB).free_space(200 * kMiB);  // twice as large: a conversion
  trace.segment(70 * kMiB).free_space(70 * kMiB);
  trace.segment(50 * kMiB).free_space(50 * kMiB);
  EXPECT_EQ(trace.parts().largest_earlier, 70 * kMiB);
}

TEST(WarmParts, WhatTheEndLeavesIsInTheOrderOfItsRequests) {
  LateTrace trace;
  trace.segment(40 * kMiB).live(40 * kMiB);
  trace.alloc(3, 512).alloc(1, 512).alloc(2, 512).request_free(1).free(2).request_free(0);
  const WarmParts parts = trace.parts();
  ASSERT_EQ(parts.left.size(), 3u);
  EXPECT_TRUE(parts.left[0].slot == 0 && parts.left[0].pending);
  EXPECT_TRUE(parts.left[1].slot == 3 && !parts.left[1].pending);
  EXPECT_TRUE(parts.left[2].slot == 1 && parts.left[2].pending);
}

}  // namespace
}  // namespace memreplay

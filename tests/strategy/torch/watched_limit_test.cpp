#include <gtest/gtest.h>

#include "strategy/torch/allocator.hpp"

namespace memreplay::torch {
namespace {

TEST(WatchedLimit, TellsWhichOthersWouldHaveDecidedTheSame) {
  const WatchedLimit limit(100);
  EXPECT_EQ(limit.lowest(), 0u);
  EXPECT_EQ(limit.highest(), UINT64_MAX);
  EXPECT_TRUE(limit.above(40));
  EXPECT_TRUE(limit.above(30));
  EXPECT_FALSE(limit.above(120));
  EXPECT_FALSE(limit.above(150));
  EXPECT_EQ(limit.lowest(), 40u);    // a limit of 40 would not have been above 40
  EXPECT_EQ(limit.highest(), 120u);  // one of 120 would not either
}

TEST(WatchedLimit, OfItsOwnSizeItIsNotAbove) {
  const WatchedLimit limit(100);
  EXPECT_FALSE(limit.above(100));
  EXPECT_EQ(limit.highest(), 100u);
}

}  // namespace
}  // namespace memreplay::torch

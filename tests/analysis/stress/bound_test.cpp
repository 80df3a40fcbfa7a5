#include <gtest/gtest.h>

#include <cmath>

#include "analysis/stress/order.hpp"

namespace memreplay {
namespace {

TEST(ToleranceBound, TheLargestOfFewValuesHasTheConfidenceOfWilks) {
  const ToleranceBound bound = tolerance_bound(1000, 0.999, 0.95);
  EXPECT_EQ(bound.above, 0u);
  EXPECT_NEAR(bound.confidence, 1 - std::pow(0.999, 1000), 1e-12);
}

TEST(ToleranceBound, TheTablesOfTheMethodAreMet) {
  // 95 % of all with 95 % confidence: 59 values for the largest, 93 for the second.
  EXPECT_LT(tolerance_bound(58, 0.95, 0.95).confidence, 0.95);
  EXPECT_GE(tolerance_bound(59, 0.95, 0.95).confidence, 0.95);
  EXPECT_EQ(tolerance_bound(92, 0.95, 0.95).above, 0u);
  EXPECT_EQ(tolerance_bound(93, 0.95, 0.95).above, 1u);
  EXPECT_EQ(tolerance_bound(124, 0.95, 0.95).above, 2u);
}

TEST(ToleranceBound, OfManyValuesItIsNearTheQuantile) {
  const ToleranceBound bound = tolerance_bound(10'000'000, 0.999, 0.99);
  EXPECT_GT(bound.above, 9'600u);
  EXPECT_LT(bound.above, 10'000u);
  EXPECT_GE(bound.confidence, 0.99);
}

TEST(ToleranceBound, OneValueBoundsNextToNothing) {
  EXPECT_NEAR(tolerance_bound(1, 0.999, 0.99).confidence, 0.001, 1e-12);
}

}  // namespace
}  // namespace memreplay

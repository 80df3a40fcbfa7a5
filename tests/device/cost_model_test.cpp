#include "device/cost_model.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

TEST(CostModel, EachCallCostsItsTimeAndARefusalNothing) {
  const DeviceUsage usage{.allocs = 3, .frees = 5, .maps = 2, .unmaps = 10, .refusals = 7};
  EXPECT_DOUBLE_EQ(modelled_seconds({}, usage), 0.017);
  const CostModel cost{.alloc = 1000.0, .free = 0.0, .map = 0.0, .unmap = 0.0};
  EXPECT_DOUBLE_EQ(modelled_seconds(cost, usage), 3.0);
}

TEST(CostCurve, IsStraightBetweenThePointsAndGoesOnBeyondThem) {
  const CostCurve curve(std::vector<CostPoint>{{100, 1.0}, {200, 2.0}, {400, 3.0}});
  EXPECT_DOUBLE_EQ(curve.ms(0), 1.0);
  EXPECT_DOUBLE_EQ(curve.ms(100), 1.0);
  EXPECT_DOUBLE_EQ(curve.ms(150), 1.5);
  EXPECT_DOUBLE_EQ(curve.ms(200), 2.0);
  EXPECT_DOUBLE_EQ(curve.ms(300), 2.5);
  EXPECT_DOUBLE_EQ(curve.ms(800), 5.0);
}

TEST(CostCurve, DoesNotFallBeyondItsLastPoint) {
  const CostCurve curve(std::vector<CostPoint>{{100, 2.0}, {200, 1.0}});
  EXPECT_DOUBLE_EQ(curve.ms(150), 1.5);
  EXPECT_DOUBLE_EQ(curve.ms(100'000), 1.0);
}

}  // namespace
}  // namespace memreplay

#include "device/watch/cost_meter.hpp"

#include <gtest/gtest.h>

#include "device/simulated_device.hpp"

namespace memreplay {
namespace {

// A millisecond a MiB, whatever the call.
CostModel a_millisecond_a_mebibyte() {
  const CostCurve curve(std::vector<CostPoint>{{0, 0}, {kMiB, 1}});
  return {curve, curve, curve, curve};
}

TEST(CostMeter, RegionsCostByTheirSizeBothWays) {
  SimulatedDevice device;
  CostMeter meter(device, a_millisecond_a_mebibyte());
  const auto region = meter.obtain(20 * kMiB);
  EXPECT_DOUBLE_EQ(meter.seconds(), 0.020);
  meter.give_back(*region);
  EXPECT_DOUBLE_EQ(meter.seconds(), 0.040);
}

TEST(CostMeter, ARefusalCostsNothing) {
  SimulatedDevice device({.capacity = 10 * kMiB});
  CostMeter meter(device, a_millisecond_a_mebibyte());
  EXPECT_FALSE(meter.obtain(20 * kMiB));
  const auto range = meter.reserve(40 * kMiB);
  EXPECT_FALSE(meter.map(*range, 20 * kMiB, 2 * kMiB));
  EXPECT_DOUBLE_EQ(meter.seconds(), 0);
}

TEST(CostMeter, MappingCostsPieceByPiece) {
  SimulatedDevice device;
  CostModel cost = a_millisecond_a_mebibyte();
  cost.map = CostCurve(std::vector<CostPoint>{{2 * kMiB, 3}, {20 * kMiB, 5}});
  CostMeter meter(device, cost);
  const auto range = meter.reserve(80 * kMiB);
  ASSERT_TRUE(meter.map(*range, 40 * kMiB, 2 * kMiB));
  EXPECT_DOUBLE_EQ(meter.seconds(), 20 * 0.003);
  ASSERT_TRUE(meter.map(*range + 40 * kMiB, 40 * kMiB, 20 * kMiB));
  EXPECT_DOUBLE_EQ(meter.seconds(), 20 * 0.003 + 2 * 0.005);
  meter.unmap(*range, 4 * kMiB);
  EXPECT_DOUBLE_EQ(meter.seconds(), 20 * 0.003 + 2 * 0.005 + 2 * 0.002);
}

TEST(CostMeter, AdoptedMemoryCostsOnlyWhenItGoes) {
  SimulatedDevice device;
  CostMeter meter(device, a_millisecond_a_mebibyte());
  meter.adopt(Address{1} << 45, 20 * kMiB, false);
  EXPECT_DOUBLE_EQ(meter.seconds(), 0);
  meter.give_back(Address{1} << 45);
  EXPECT_DOUBLE_EQ(meter.seconds(), 0.020);
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include "device/simulated_device.hpp"
#include "device/watch/heard_device.hpp"

namespace memreplay {
namespace {

// A millisecond a MiB, whatever the call.
CostModel a_millisecond_a_mebibyte() {
  const CostCurve curve(std::vector<CostPoint>{{0, 0}, {kMiB, 1}});
  return {curve, curve, curve, curve};
}

TEST(CostMeter, RegionsCostByTheirSizeBothWays) {
  SimulatedDevice simulated;
  CostMeter meter(a_millisecond_a_mebibyte());
  HeardDevice device(simulated, meter);
  const auto region = device.obtain(20 * kMiB);
  EXPECT_DOUBLE_EQ(meter.seconds(), 0.020);
  device.give_back(*region);
  EXPECT_DOUBLE_EQ(meter.seconds(), 0.040);
}

TEST(CostMeter, ARefusalCostsNothing) {
  SimulatedDevice simulated({.capacity = 10 * kMiB});
  CostMeter meter(a_millisecond_a_mebibyte());
  HeardDevice device(simulated, meter);
  EXPECT_FALSE(device.obtain(20 * kMiB));
  const auto range = device.reserve(40 * kMiB);
  EXPECT_FALSE(device.map(*range, 20 * kMiB, 2 * kMiB));
  EXPECT_DOUBLE_EQ(meter.seconds(), 0);
}

TEST(CostMeter, MappingCostsPieceByPiece) {
  SimulatedDevice simulated;
  CostModel cost = a_millisecond_a_mebibyte();
  cost.map = CostCurve(std::vector<CostPoint>{{2 * kMiB, 3}, {20 * kMiB, 5}});
  CostMeter meter(cost);
  HeardDevice device(simulated, meter);
  const auto range = device.reserve(80 * kMiB);
  ASSERT_TRUE(device.map(*range, 40 * kMiB, 2 * kMiB));
  EXPECT_DOUBLE_EQ(meter.seconds(), 20 * 0.003);
  ASSERT_TRUE(device.map(*range + 40 * kMiB, 40 * kMiB, 20 * kMiB));
  EXPECT_DOUBLE_EQ(meter.seconds(), 20 * 0.003 + 2 * 0.005);
  device.unmap(*range, 4 * kMiB);
  EXPECT_DOUBLE_EQ(meter.seconds(), 20 * 0.003 + 2 * 0.005 + 2 * 0.002);
}

TEST(CostMeter, AdoptedMemoryCostsOnlyWhenItGoes) {
  SimulatedDevice simulated;
  CostMeter meter(a_millisecond_a_mebibyte());
  HeardDevice device(simulated, meter);
  device.adopt(Address{1} << 45, 20 * kMiB, false);
  EXPECT_DOUBLE_EQ(meter.seconds(), 0);
  device.give_back(Address{1} << 45);
  EXPECT_DOUBLE_EQ(meter.seconds(), 0.020);
}

}  // namespace
}  // namespace memreplay

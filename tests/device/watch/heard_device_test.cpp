#include "device/watch/heard_device.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "device/simulated_device.hpp"
#include "support/driver_device.hpp"

namespace memreplay {
namespace {

TEST(DeviceLog, WritesDownWhatWasAskedForAndGranted) {
  SimulatedDevice simulated({.capacity = 8 * kMiB});
  DeviceLog log;
  HeardDevice device(simulated, log);
  const Address region = *device.obtain(3);
  EXPECT_FALSE(device.obtain(kGiB));
  VirtualMemory* memory = device.virtual_memory();
  const Address range = *memory->reserve(4 * kMiB);
  EXPECT_TRUE(memory->map(range, 4 * kMiB, 2 * kMiB));
  EXPECT_FALSE(memory->map(range + 4 * kMiB, 4 * kMiB, 2 * kMiB));
  memory->unmap(range, 2 * kMiB);
  device.give_back(region);
  const std::vector<DeviceEvent> expected = {{Op::segment_alloc, region, 3},
                                             {Op::segment_map, range, 4 * kMiB},
                                             {Op::segment_unmap, range, 2 * kMiB},
                                             {Op::segment_free, region, 3}};
  EXPECT_EQ(log.events(), expected);
}

TEST(DeviceLog, TheReturnOfAnAdoptedRegionIsWrittenDown) {
  SimulatedDevice simulated;
  DeviceLog log;
  HeardDevice device(simulated, log);
  device.adopt(0x7f0000000000, 5, false);
  device.give_back(0x7f0000000000);
  EXPECT_EQ(log.events(), (std::vector<DeviceEvent>{{Op::segment_free, 0x7f0000000000, 5}}));
}

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

using Kind = DeviceCall::Kind;

struct Ear final : Watcher {
  void on_device_call(const DeviceCall& call) override { calls.push_back(call); }
  const DeviceCall& last() const { return calls.back(); }

  std::vector<DeviceCall> calls;
};

TEST(HeardDevice, ARefusedCallIsNotHeardOf) {
  SimulatedDevice simulated({.capacity = 4 * kMiB});
  Ear ear;
  HeardDevice device(simulated, ear);
  EXPECT_FALSE(device.obtain(kGiB));
  EXPECT_TRUE(ear.calls.empty());
}

TEST(HeardDevice, WhatIsReturnedIsHeardOfWithTheBytesThatWereAskedFor) {
  SimulatedDevice simulated;
  Ear ear;
  HeardDevice device(simulated, ear);
  const Address region = *device.obtain(3);
  device.give_back(region);
  EXPECT_EQ(ear.last().kind, Kind::give_back);
  EXPECT_EQ(ear.last().address, region);
  EXPECT_EQ(ear.last().bytes, 3u);
}

TEST(HeardDevice, APartThatIsUnmappedIsHeardOfWithTheGranuleOfItsPieces) {
  SimulatedDevice simulated;
  Ear ear;
  HeardDevice device(simulated, ear);
  const Address range = *device.reserve(40 * kMiB);
  ASSERT_TRUE(device.map(range, 20 * kMiB, 2 * kMiB));
  ASSERT_TRUE(device.map(range + 20 * kMiB, 20 * kMiB, 20 * kMiB));
  device.unmap(range + 4 * kMiB, 2 * kMiB);
  EXPECT_EQ(ear.last().granule, 2 * kMiB);
  device.unmap(range + 20 * kMiB, 20 * kMiB);
  EXPECT_EQ(ear.last().granule, 20 * kMiB);
}

TEST(HeardDevice, AnAliasIsHeardOfWithTheMemoryThatItShows) {
  SimulatedDevice simulated;
  Ear ear;
  HeardDevice device(simulated, ear);
  const Address region = *device.obtain(4 * kMiB);
  const Address range = *device.reserve(2 * kMiB);
  device.alias(range, region, 2 * kMiB, 2 * kMiB);
  EXPECT_EQ(ear.last().kind, Kind::alias);
  EXPECT_EQ(ear.last().of, region);
  device.unalias(range);
  EXPECT_EQ(ear.last().kind, Kind::unalias);
  EXPECT_EQ(ear.last().bytes, 2 * kMiB);
}

TEST(HeardDevice, ABlockOfTheDriverIsHeardOfAsAskedForAndAsCharged) {
  DriverDevice driver({DriverAllocatorOptions::Kind::malloc});
  Ear ear;
  HeardDevice device(driver, ear);
  const auto block = device.allocate(100, 0, 0);
  EXPECT_EQ(ear.last().bytes, 100u);
  EXPECT_EQ(ear.last().charged, 256u);
  device.free(block->address, 0);
  EXPECT_EQ(ear.last().kind, Kind::free);
  EXPECT_EQ(ear.last().bytes, 100u);
}

TEST(HeardDevice, AListenerCanStopAReturnBeforeItHappens) {
  struct Guard final : Watcher {
    void on_device_call(const DeviceCall& call) override {
      if (call.kind == Kind::give_back) throw std::logic_error("not now");
    }
  } guard;
  SimulatedDevice simulated;
  HeardDevice device(simulated, guard);
  const Address region = *device.obtain(1);
  EXPECT_THROW(device.give_back(region), std::logic_error);
  EXPECT_EQ(simulated.usage().frees, 0u);
}

TEST(HeardDevice, AllListenersHearInTheirOrderAndNobodyListensToACopy) {
  SimulatedDevice simulated;
  Ear first;
  Ear second;
  HeardDevice device(simulated, first);
  device.tell(second);
  device.obtain(1);
  const auto copy = device.clone();
  copy->obtain(1);
  EXPECT_EQ(copy->usage().allocs, 2u);
  EXPECT_EQ(device.usage().allocs, 1u);
  EXPECT_EQ(first.calls.size(), 1u);
  EXPECT_EQ(second.calls.size(), 1u);
}

}  // namespace

}  // namespace memreplay

#include "device/watch/heard_device.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "device/simulated_device.hpp"
#include "support/driver_device.hpp"

namespace memreplay {
namespace {

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

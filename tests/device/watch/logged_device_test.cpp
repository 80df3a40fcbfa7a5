#include "device/watch/logged_device.hpp"

#include <gtest/gtest.h>

#include "device/simulated_device.hpp"

namespace memreplay {
namespace {

TEST(LoggedDevice, WritesDownWhatWasAskedForAndGranted) {
  SimulatedDevice simulated({.capacity = 8 * kMiB});
  LoggedDevice device(simulated);
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
  EXPECT_EQ(device.events(), expected);
}

TEST(LoggedDevice, TheReturnOfAnAdoptedRegionIsWrittenDown) {
  SimulatedDevice simulated;
  LoggedDevice device(simulated);
  device.adopt(0x7f0000000000, 5, false);
  device.give_back(0x7f0000000000);
  EXPECT_EQ(device.events(), (std::vector<DeviceEvent>{{Op::segment_free, 0x7f0000000000, 5}}));
}

TEST(LoggedDevice, ACopyOwnsACopyOfTheDevice) {
  SimulatedDevice simulated;
  LoggedDevice device(simulated);
  device.obtain(1);
  const auto copy = device.clone();
  copy->obtain(1);
  EXPECT_EQ(copy->usage().allocs, 2u);
  EXPECT_EQ(device.usage().allocs, 1u);
  EXPECT_EQ(device.events().size(), 1u);
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include "device/device_wrapper.hpp"
#include "device/simulated_device.hpp"

namespace memreplay {
namespace {

TEST(CapacityWatch, TheLeastRefusedIsWhatWouldHaveBeenHeldInWholeGranules) {
  SimulatedDevice simulated({.capacity = 8 * kMiB});
  CapacityWatch device(simulated, 2 * kMiB);
  const Address first = *device.obtain(3 * kMiB);
  EXPECT_EQ(device.least_refused(), std::nullopt);
  EXPECT_FALSE(device.obtain(7 * kMiB));
  EXPECT_EQ(device.least_refused(), 12 * kMiB);
  EXPECT_FALSE(device.obtain(5 * kMiB));
  EXPECT_EQ(device.least_refused(), 10 * kMiB);
  device.give_back(first);
  EXPECT_FALSE(device.obtain(11 * kMiB));
  EXPECT_EQ(device.least_refused(), 10 * kMiB);
}

TEST(CapacityWatch, MappedMemoryCountsToo) {
  SimulatedDevice simulated({.capacity = 4 * kMiB});
  CapacityWatch device(simulated, 2 * kMiB);
  VirtualMemory* memory = device.virtual_memory();
  const Address range = *memory->reserve(8 * kMiB);
  EXPECT_FALSE(memory->map(range, 6 * kMiB, 2 * kMiB));
  EXPECT_EQ(device.least_refused(), 6 * kMiB);
}

TEST(CapacityWatch, WhatNoDeviceCouldGiveIsNoMatterOfItsSize) {
  SimulatedDevice simulated({.capacity = 4 * kMiB});
  CapacityWatch device(simulated, 2 * kMiB);
  EXPECT_FALSE(device.obtain(UINT64_MAX));
  EXPECT_EQ(device.least_refused(), std::nullopt);
}

TEST(CapacityWatch, AskingForTheSizeIsNoted) {
  SimulatedDevice simulated({.capacity = 4 * kMiB});
  CapacityWatch device(simulated, 2 * kMiB);
  device.obtain(1);
  EXPECT_FALSE(device.asked_for_size());
  EXPECT_EQ(device.free_bytes(), 2 * kMiB);
  EXPECT_TRUE(device.asked_for_size());
}

}  // namespace
}  // namespace memreplay

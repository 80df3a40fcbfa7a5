#include <gtest/gtest.h>

#include "device/simulated_device.hpp"
#include "device/watch/heard_device.hpp"

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

}  // namespace
}  // namespace memreplay

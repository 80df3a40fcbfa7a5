#include "strategy/torch/allocator.hpp"

#include <gtest/gtest.h>

#include "device/simulated_device.hpp"

namespace memreplay::torch {
namespace {

// What the allocator decides is in rules_test.cpp.

TEST(TorchAllocator, ACopyGoesOnAsTheOriginalWould) {
  SimulatedDevice device;
  Allocator original(device, {}, kNewestRelease, std::vector<PoolId>(1));
  const Placement kept = *original.allocate({5000, 0, 0, 0});
  original.free(original.allocate({3 * kMiB, 0, 0, 0})->handle, {});
  const auto device_copy = device.clone();
  const auto copy = original.clone(*device_copy);
  EXPECT_EQ(copy->allocate({kMiB, 0, 0, 0})->address, original.allocate({kMiB, 0, 0, 0})->address);
  copy->free(kept.handle, {});
  EXPECT_NE(copy->testimony().counters, original.testimony().counters);
}

constexpr Address kRecorded = 0x7f0000000000;

// Two recorded segments without a block in use; the one at the higher address is older.
TEST(TorchAllocator, OfRecordedSegmentsTheOldestServesFirst) {
  const auto segment = [](Address address, std::uint32_t age) {
    return SegmentInfo{.address = address,
                       .size = 20 * kMiB,
                       .age = age,
                       .blocks = {{.address = address, .size = 20 * kMiB}}};
  };
  const MemoryState start{{segment(kRecorded, 1), segment(kRecorded + 20 * kMiB, 0)}};
  for (const auto& [release, expected] : {std::pair(Release{2, 11, 0}, kRecorded),
                                          std::pair(Release{2, 15, 0}, kRecorded + 20 * kMiB)}) {
    SimulatedDevice device;
    for (const SegmentInfo& held : start.segments) device.adopt(held.address, held.size, false);
    Allocator allocator(device, {}, release, {});
    allocator.adopt(start, {});
    EXPECT_EQ(allocator.allocate({.size = 2 * kMiB})->address, expected) << release.text();
  }
}

TEST(TorchAllocator, ARecordedReservationGrowsInThePiecesThatItWasMappedIn) {
  const SegmentInfo run{.address = kRecorded,
                        .size = 40 * kMiB,
                        .expandable = true,
                        .blocks = {{.address = kRecorded, .size = 40 * kMiB}}};
  SimulatedDevice device({.capacity = kGiB});
  device.adopt(run.address, run.size, true);
  Settings settings;
  settings.expandable_segments = true;
  settings.large_segment_size = 128 * kMiB;
  Allocator allocator(device, settings, kNewestRelease, {});
  allocator.adopt({{run}}, {});
  EXPECT_EQ(allocator.allocate({.size = 50 * kMiB})->address, kRecorded);
  EXPECT_EQ(device.usage().held, 56 * kMiB);
  EXPECT_TRUE(allocator.allocate({.size = 900 * kMiB}));
}

}  // namespace
}  // namespace memreplay::torch

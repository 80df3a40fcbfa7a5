#include "strategy/torch/allocator.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <vector>

#include "device/simulated_device.hpp"
#include "strategy/torch/pytorch.hpp"

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

// Where streams are few, all are asked for it; where they are many, those that changed.
TEST(TorchAllocator, TheLargestFreeBlockIsKnownHoweverManyStreamsThereAre) {
  SimulatedDevice device;
  Allocator allocator(device, {}, kNewestRelease, std::vector<PoolId>(1));
  std::mt19937 random(7);
  std::vector<Handle> live;
  for (StreamIndex stream = 0; stream < 200; ++stream) {
    for (int i = 0; i < 8; ++i) {
      const Bytes size = 1 + random() % (8 * kMiB);
      live.push_back(allocator.allocate({size, 0, stream, 0})->handle);
      if (random() % 2 == 0) continue;
      std::swap(live[random() % live.size()], live.back());
      allocator.free(live.back(), {});
      live.pop_back();
    }
    Bytes largest = 0;
    for (const AddressRange range : allocator.free_ranges()) {
      largest = std::max(largest, range.size());
    }
    ASSERT_EQ(allocator.free_space().largest, largest) << stream;
  }
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

// The device of a replay may be larger than the recorded one, and its reservations longer.
TEST(TorchAllocator, ARecordedReservationEndsWhereOtherMemoryBegins) {
  const auto run = [](Address address, bool small_pool) {
    return SegmentInfo{.address = address,
                       .size = 20 * kMiB,
                       .small_pool = small_pool,
                       .expandable = true,
                       .blocks = {{.address = address, .size = 20 * kMiB}}};
  };
  const MemoryState start{{run(kRecorded, false), run(kRecorded + 60 * kMiB, true)}};
  SimulatedDevice device;
  for (const SegmentInfo& held : start.segments) device.adopt(held.address, held.size, true);
  Settings settings;
  settings.expandable_segments = true;
  Allocator allocator(device, settings, kNewestRelease, {});
  allocator.adopt(start, {});
  EXPECT_EQ(allocator.allocate({.size = 60 * kMiB})->address, kRecorded);
  EXPECT_EQ(allocator.allocate({.size = 20 * kMiB})->address, Address{1} << 44) << "a new one";
  EXPECT_EQ(device.usage().held, 100 * kMiB);
}

constexpr Address kFirst = Address{1} << 44;

/// Reservations of 100 MiB.
const std::string kShort = "expandable_segments:True,expandable_segments_reserve:0.1";

TEST(TorchAllocator, AReservationThatWasGivenUpIsAtNoAddress) {
  Pytorch torch(kShort, 1000 * kMiB);
  torch.search(3 * kMiB);
  const Allocator& allocator = torch.allocator();
  ASSERT_TRUE(allocator.reservation_at(kFirst + 100 * kMiB - 1));
  EXPECT_FALSE(allocator.reservation_at(kFirst + 100 * kMiB));
  torch.empty_cache();
  EXPECT_FALSE(allocator.reservation_at(kFirst));
  torch.alloc('a', 3 * kMiB);
  EXPECT_EQ(allocator.reservation_at(kFirst + 100 * kMiB)->address, kFirst + 100 * kMiB);
}

// Free blocks of 40 MiB, then of 70, each at the front of a reservation.
TEST(TorchAllocator, ABlockThatCanGrowServesWhatTheNextOneCannotReach) {
  Pytorch torch(kShort, 1000 * kMiB);
  torch.alloc('a', 70 * kMiB);
  torch.alloc('b', 40 * kMiB);
  torch.free('a');
  torch.free('b');
  const auto growing = torch.allocator().growing_block_at(kFirst + 100 * kMiB, 0);
  ASSERT_TRUE(growing);
  EXPECT_EQ(growing->end, kFirst + 140 * kMiB);
  EXPECT_EQ(growing->tail, 60 * kMiB);
  EXPECT_EQ(growing->longest, 60 * kMiB);
  EXPECT_FALSE(torch.allocator().growing_block_at(kFirst, 0)) << "no other comes behind it";
}

TEST(TorchAllocator, ABlockWithoutUnmappedMemoryBehindItDoesNotGrow) {
  Pytorch torch(kShort, 1000 * kMiB);
  torch.alloc('a', 30 * kMiB);
  torch.alloc('c', 70 * kMiB);
  torch.alloc('b', 40 * kMiB);
  torch.free('a');
  torch.free('b');
  EXPECT_FALSE(torch.allocator().growing_block_at(kFirst, 0));
}

// A block of `size` after a free block of 40 MiB that reaches 100.
std::optional<Allocator::GrowingBlock> growing_behind_another(Bytes size) {
  Pytorch torch(kShort, 1000 * kMiB);
  torch.alloc('b', 40 * kMiB);
  torch.set("expandable_segments:True,expandable_segments_reserve:0.2");
  torch.alloc('a', size);
  torch.free('b');
  torch.free('a');
  return torch.allocator().growing_block_at(kFirst + 100 * kMiB, kFirst);
}

TEST(TorchAllocator, TheSearchGoesOnToABlockAsFarAsTheOneBeforeItReaches) {
  const auto growing = growing_behind_another(80 * kMiB);
  ASSERT_TRUE(growing);
  EXPECT_EQ(growing->tail, 120 * kMiB);
  EXPECT_EQ(growing->longest, 20 * kMiB - 1);
  EXPECT_FALSE(growing_behind_another(100 * kMiB));
}

// What is compared with a request is the limit of now.
TEST(TorchAllocator, LimitsThatTheProgramChangesHoldFromThenOn) {
  const std::string narrow = "max_split_size_mb:100";
  Pytorch torch(narrow + ",max_non_split_rounding_mb:40");
  torch.search(150 * kMiB);
  torch.set(narrow);
  torch.alloc('a', 120 * kMiB);
  EXPECT_EQ(torch.charged('a'), 120 * kMiB) << "30 MiB is more than the 20 of the default";
  torch.set("max_split_size_mb:200");
  torch.alloc('b', 60 * kMiB);
  EXPECT_EQ(torch.charged('b'), 60 * kMiB) << "150 MiB may be split";
  EXPECT_EQ(torch.calls(), "+150 +120");
}

}  // namespace
}  // namespace memreplay::torch

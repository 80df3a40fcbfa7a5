#include <cuda.h>

#include <limits>

#include "core/error.hpp"
#include "cuda_fixture.hpp"

namespace memreplay {
namespace {

using Kind = DriverAllocatorOptions::Kind;

DriverAllocatorOptions of_kind(Kind kind) {
  DriverAllocatorOptions options;
  options.kind = kind;
  return options;
}

class CudaBlocks : public DriverTest {
 protected:
  void open(Kind kind) { blocks = memory->open_allocator(of_kind(kind)); }
  void TearDown() override {
    blocks.reset();
    DriverTest::TearDown();
  }

  std::unique_ptr<DriverBlocks> blocks;
};
MEMREPLAY_ON_BOTH_DRIVERS(CudaBlocks);

TEST_P(CudaBlocks, BlocksAreOfTheSizeAskedForAndHoldWhatIsWritten) {
  for (const Kind kind : {Kind::direct, Kind::stream_ordered}) {
    open(kind);
    std::vector<DriverBlock> placed;
    for (const Bytes size : {1, 700, 3'000'000}) {
      placed.push_back(blocks->allocate(size, 0, 4).value());
      EXPECT_GE(placed.back().size, size);
      memory->execution().fill(4, {placed.back().address, size}, size, Touch::all);
      memory->execution().check(4, {placed.back().address, size}, size, Touch::all);
    }
    EXPECT_TRUE(memory->execution().mismatches().empty());
    for (const DriverBlock& block : placed) blocks->free(block.address, 4);
  }
}

TEST_P(CudaBlocks, AddressesAreMultiplesOfTheAlignment) {
  for (const Kind kind : {Kind::direct, Kind::stream_ordered}) {
    open(kind);
    for (const Bytes alignment : {Bytes{1}, Bytes{256}, 64 * kKiB, 8 * kMiB}) {
      const DriverBlock one = blocks->allocate(1000, alignment, 0).value();
      const DriverBlock other = blocks->allocate(1000, alignment, 0).value();
      EXPECT_EQ(one.address % alignment, 0u);
      EXPECT_EQ(other.address % alignment, 0u);
      memory->execution().fill(0, {other.address, 1000}, 1, Touch::all);
      blocks->free(one.address, 0);
      blocks->free(other.address, 0);
    }
  }
}

TEST_P(CudaBlocks, ABlockOfNothingHasAnAddress) {
  for (const Kind kind : {Kind::direct, Kind::stream_ordered}) {
    open(kind);
    const DriverBlock one = blocks->allocate(0, 0, 0).value();
    const DriverBlock other = blocks->allocate(0, 0, 0).value();
    EXPECT_NE(one.address, other.address);
    blocks->free(one.address, 0);
    blocks->free(other.address, 0);
  }
}

TEST_P(CudaBlocks, MoreThanThereIsIsNotServed) {
  for (const Kind kind : {Kind::direct, Kind::stream_ordered}) {
    open(kind);
    EXPECT_FALSE(blocks->allocate(2 * memory->facts().total, 0, 0).has_value());
    EXPECT_FALSE(blocks->allocate(2 * memory->facts().total, kGiB, 0).has_value());
    EXPECT_TRUE(blocks->allocate(1, 0, 0).has_value());
  }
}

TEST_P(CudaBlocks, WhatIsStillLiveGoesWithTheAllocator) {
  for (const Kind kind : {Kind::direct, Kind::stream_ordered}) {
    const Bytes before = memory->free_bytes();
    open(kind);
    ASSERT_TRUE(blocks->allocate(100 * kMiB, 0, 1).has_value());
    ASSERT_TRUE(blocks->allocate(100 * kMiB, 8 * kMiB, 2).has_value());
    EXPECT_LE(memory->free_bytes(), before - 200 * kMiB);
    blocks.reset();
    EXPECT_GT(memory->free_bytes(), before - 100 * kMiB);
  }
}

TEST_P(CudaBlocks, ThePeakOfWhatIsHeldStays) {
  for (const Kind kind : {Kind::direct, Kind::stream_ordered}) {
    open(kind);
    const Address one = blocks->allocate(40 * kMiB, 0, 0).value().address;
    const Address other = blocks->allocate(40 * kMiB, 0, 0).value().address;
    blocks->free(one, 0);
    blocks->free(other, 0);
    blocks->trim();
    EXPECT_LT(blocks->held(), 40 * kMiB);
    EXPECT_GE(blocks->peak_held(), 80 * kMiB);
  }
}

TEST_P(CudaBlocks, BelowItsThresholdAPoolKeepsMemoryUntilItIsTrimmed) {
  DriverAllocatorOptions options = of_kind(Kind::stream_ordered);
  options.release_threshold = std::numeric_limits<Bytes>::max();
  blocks = memory->open_allocator(options);
  blocks->free(blocks->allocate(40 * kMiB, 0, 0).value().address, 0);
  memory->execution().synchronise();
  EXPECT_GE(blocks->held(), 40 * kMiB);
  blocks->trim();
  EXPECT_EQ(blocks->held(), 0u);
}

using CudaBlocksOnStandIn = StandInTest;

TEST_F(CudaBlocksOnStandIn, TheSizeOfABlockOfAPoolIsWhatItTakesThere) {
  const auto pool = open().open_allocator(of_kind(Kind::stream_ordered));
  EXPECT_EQ(pool->allocate(1000, 0, 0).value().size, 1024u);
  const auto direct = memory->open_allocator(of_kind(Kind::direct));
  EXPECT_EQ(direct->allocate(1000, 0, 0).value().size, 1000u);
}

TEST_F(CudaBlocksOnStandIn, AThresholdOfNothingGivesMemoryBackWhenTheHostWaits) {
  const auto pool = open().open_allocator(of_kind(Kind::stream_ordered));
  pool->free(pool->allocate(40 * kMiB, 0, 0).value().address, 0);
  EXPECT_EQ(pool->held(), 40 * kMiB);
  memory->execution().synchronise();
  EXPECT_EQ(pool->held(), 0u);
}

TEST_F(CudaBlocksOnStandIn, AnAlignmentThatLeavesNoRoomIsNotServed) {
  const auto blocks = open().open_allocator(of_kind(Kind::direct));
  EXPECT_FALSE(blocks->allocate(std::numeric_limits<Bytes>::max() - 5, kMiB, 0).has_value());
}

TEST_F(CudaBlocksOnStandIn, ABlockThatCouldNotBeFreedCanBeFreedAgain) {
  for (const auto& [kind, call] :
       {std::pair{Kind::direct, "cuMemFree"}, std::pair{Kind::stream_ordered, "cuMemFreeAsync"}}) {
    const auto blocks = open().open_allocator(of_kind(kind));
    const Address block = blocks->allocate(1000, 0, 0).value().address;
    stand_in().fail_call(call, 1, CUDA_ERROR_UNKNOWN);
    EXPECT_NE(message_of<DeviceError>([&] { blocks->free(block, 0); }), "");
    blocks->free(block, 0);
  }
}

TEST_F(CudaBlocksOnStandIn, WhatTheDeviceLacksIsAWrongUse) {
  open();
  EXPECT_EQ(message_of<UsageError>([&] { memory->open_allocator(of_kind(Kind::malloc)); }),
            "cuda:0: malloc places blocks in the memory of this machine only");
  stand_in().set_attribute(CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 0);
  EXPECT_EQ(message_of<UsageError>([&] { memory->open_allocator(of_kind(Kind::stream_ordered)); }),
            "cuda:0: this GPU has no memory pools");
}

}  // namespace
}  // namespace memreplay

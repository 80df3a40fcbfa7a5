#include <cuda.h>

#include <vector>

#include "cuda_fixture.hpp"

namespace memreplay {
namespace {

constexpr Bytes kSize = 64 * kKiB;

bool is_of(const TouchMismatch& a, std::uint64_t tag, Address address) {
  return a.tag == tag && a.address == address;
}

class CudaExecution : public DriverTest {
 protected:
  void SetUp() override {
    DriverTest::SetUp();
    if (memory != nullptr) at = memory->allocate(kSize).value();
  }
  void TearDown() override {
    if (memory != nullptr) memory->free(at);
    DriverTest::TearDown();
  }
  Execution& gpu() { return memory->execution(); }

  Address at = 0;
};
MEMREPLAY_ON_BOTH_DRIVERS(CudaExecution);

TEST_P(CudaExecution, FilledRangesAreFoundWholeWhereverTheyBegin) {
  std::uint64_t tag = 0;
  for (const Touch touch : {Touch::all, Touch::edges}) {
    for (const Bytes from : {0, 1, 3, 8, 4093, 4095}) {
      for (const Bytes size : {1, 5, 7, 8, 9, 16, 4096, 5000, 50'000}) {
        gpu().fill(0, {at + from, size}, ++tag, touch);
        gpu().check(0, {at + from, size}, tag, touch);
      }
    }
  }
  EXPECT_TRUE(gpu().mismatches().empty());
}

TEST_P(CudaExecution, TheLowestByteThatWasOverwrittenIsNamed) {
  for (const Bytes place : {0, 1, 1000, 4095, 65'535}) {
    gpu().fill(0, {at, kSize}, 1, Touch::all);
    gpu().fill(0, {at + place, kSize - place}, 2, Touch::all);
    gpu().check(0, {at, kSize}, 1, Touch::all);
    const std::vector<TouchMismatch> found = gpu().mismatches();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].tag, 1u);
    // A byte of one pattern may be the same in the other, a word may not.
    EXPECT_LE(found[0].address - (at + place), kTouchWord);
  }
}

TEST_P(CudaExecution, EdgesAreTheEndsAndTheFirstWordOfEachStride) {
  const RealRange block{at + 100, 20'000};
  const Address stride = round_up(block.address, kTouchStride);
  for (const Address seen : {block.address, stride, stride + kTouchStride, at + 20'096}) {
    gpu().fill(0, block, 1, Touch::edges);
    gpu().fill(0, {seen, 4}, 2, Touch::all);
    gpu().check(0, block, 1, Touch::edges);
    EXPECT_EQ(gpu().mismatches().size(), 1u) << seen - at;
  }
  gpu().fill(0, block, 1, Touch::edges);
  gpu().fill(0, {stride + 8, 4000}, 2, Touch::all);
  gpu().check(0, block, 1, Touch::edges);
  EXPECT_TRUE(gpu().mismatches().empty());
}

TEST_P(CudaExecution, MismatchesComeInTheOrderOfTheChecksAndOnce) {
  for (const std::uint64_t tag : {9, 4, 6}) gpu().check(0, {at + 8 * tag, 8}, tag, Touch::all);
  const std::vector<TouchMismatch> found = gpu().mismatches();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(is_of(found[0], 9, at + 72) && is_of(found[1], 4, at + 32) &&
              is_of(found[2], 6, at + 48));
  EXPECT_TRUE(gpu().mismatches().empty());

  gpu().fill(0, {at, 8}, 1, Touch::all);
  gpu().check(0, {at, 8}, 1, Touch::all);
  EXPECT_TRUE(gpu().mismatches().empty());
}

TEST_P(CudaExecution, TheRangesOfOneBlockAreOneMismatch) {
  gpu().check(0, {at + 512, 8}, 3, Touch::all);
  gpu().check(0, {at + 256, 8}, 3, Touch::all);
  const std::vector<TouchMismatch> found = gpu().mismatches();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_TRUE(is_of(found[0], 3, at + 256));
}

TEST_P(CudaExecution, MoreChecksThanThereArePlacesLoseNoMismatch) {
  gpu().fill(0, {at, 8}, 9, Touch::all);
  gpu().check(0, {at, 8}, 1, Touch::all);
  gpu().fill(0, {at + 8, 8}, 2, Touch::all);
  for (std::uint64_t i = 0; i < 70'000; ++i) {
    gpu().check(0, {at + 8, 8}, i % 2 == 0 ? 2 : 3 + i, Touch::edges);
    if (i % 2 == 0) continue;
    gpu().fill(0, {at + 8, 8}, 2, Touch::all);
  }
  const std::vector<TouchMismatch> found = gpu().mismatches();
  ASSERT_GE(found.size(), 2u);
  EXPECT_EQ(found[0].tag, 1u);
  EXPECT_EQ(found[1].tag, 4u);
}

TEST_P(CudaExecution, AStreamThatWaitsForAPointSeesTheWorkBeforeIt) {
  gpu().fill(1, {at, kSize}, 1, Touch::all);
  const Execution::Point filled = gpu().record(1);
  gpu().wait(2, filled);
  gpu().check(2, {at, kSize}, 1, Touch::all);
  gpu().forget(filled);
  EXPECT_TRUE(gpu().mismatches().empty());
}

TEST_P(CudaExecution, TheHostCanWaitForAPoint) {
  gpu().fill(1, {at, kSize}, 1, Touch::all);
  const Execution::Point filled = gpu().record(1);
  gpu().wait(filled);
  gpu().check(2, {at, kSize}, 1, Touch::all);
  gpu().forget(filled);
  EXPECT_TRUE(gpu().mismatches().empty());
}

TEST_P(CudaExecution, AThirdOfAHundredStreamsIsMade) {
  for (StreamIndex stream = 0; stream < 100; ++stream) {
    gpu().fill(stream, {at + 512 * stream, 512}, stream, Touch::all);
  }
  gpu().synchronise();
  for (StreamIndex stream = 0; stream < 100; ++stream) {
    gpu().check(0, {at + 512 * stream, 512}, stream, Touch::all);
  }
  EXPECT_TRUE(gpu().mismatches().empty());
  EXPECT_TRUE(gpu().same(1, 33));
  EXPECT_FALSE(gpu().same(1, 32));
  if (GetParam() == Driver::stand_in) {
    EXPECT_EQ(stand_in().calls("cuStreamCreate"), 32u);
  }
}

TEST_P(CudaExecution, TheClockTimesMoreCallsThanItKeepsEvents) {
  for (int i = 0; i < 1200; ++i) {
    gpu().start_clock(3);
    gpu().fill(3, {at, kSize}, 1, Touch::all);
    gpu().stop_clock(i % 3 == 0 ? CallKind::check : CallKind::fill);
  }
  TimesByKind times;
  gpu().collect(times);
  const auto device = [&](CallKind kind) { return times[static_cast<std::size_t>(kind)].device; };
  EXPECT_EQ(device(CallKind::fill).count(), 800u);
  EXPECT_EQ(device(CallKind::check).count(), 400u);
  EXPECT_EQ(device(CallKind::alloc).count(), 0u);
  EXPECT_GT(device(CallKind::fill).sum(), 0u);

  gpu().collect(times);
  EXPECT_EQ(device(CallKind::fill).count(), 800u);
}

TEST_P(CudaExecution, AClockThatWasNotStartedStopsNothing) {
  gpu().stop_clock(CallKind::fill);
  TimesByKind times;
  gpu().collect(times);
  EXPECT_EQ(times[static_cast<std::size_t>(CallKind::fill)].device.count(), 0u);
}

TEST_P(CudaExecution, NothingIsTouchedInAnEmptyRange) {
  gpu().fill(0, {at, 0}, 1, Touch::all);
  gpu().check(0, {at, 0}, 1, Touch::edges);
  EXPECT_TRUE(gpu().mismatches().empty());
}

using CudaExecutionOnStandIn = StandInTest;

TEST_F(CudaExecutionOnStandIn, EveryByteOfTheRangeAndNoOtherIsWritten) {
  const Address at = open().allocate(kKiB).value();
  memory->execution().fill(0, {at, kKiB}, 1, Touch::all);
  memory->execution().fill(0, {at + 13, 300}, 2, Touch::all);
  memory->execution().synchronise();
  for (Address byte = at; byte < at + kKiB; ++byte) {
    const bool inside = byte >= at + 13 && byte < at + 313;
    ASSERT_EQ(*reinterpret_cast<const std::uint8_t*>(byte), touch_byte(inside ? 2 : 1, byte))
        << byte - at;
  }
  memory->free(at);
}

TEST_F(CudaExecutionOnStandIn, PointsAreUsedAgain) {
  Execution& gpu = open().execution();
  for (int i = 0; i < 100; ++i) gpu.forget(gpu.record(static_cast<StreamIndex>(i)));
  EXPECT_EQ(stand_in().calls("cuEventCreate"), 1u);
}

TEST_F(CudaExecutionOnStandIn, NothingOfTheDeviceIsTakenBeforeTheFirstFill) {
  open().execution().synchronise();
  EXPECT_EQ(stand_in().calls("cuModuleLoadData"), 0u);
  EXPECT_EQ(stand_in().calls("cuMemAlloc"), 0u);
  EXPECT_TRUE(memory->execution().mismatches().empty());
}

TEST_F(CudaExecutionOnStandIn, ADriverThatIsTooOldForTheKernelsSaysWhatHelps) {
  const Address at = open().allocate(8).value();
  const auto fill = [&] { memory->execution().fill(0, {at, 8}, 1, Touch::all); };
  stand_in().fail_call("cuModuleLoadData", 1, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
  const std::string message = message_of<DeviceError>(fill);
  EXPECT_NE(message.find("cuModuleLoadData: CUDA_ERROR_UNSUPPORTED_PTX_VERSION"), message.npos);
  EXPECT_NE(message.find("older than the CUDA toolkit"), message.npos);
  EXPECT_NE(message.find("--touch=none"), message.npos);
  fill();
  memory->free(at);
}

}  // namespace
}  // namespace memreplay

#include "device/real/timed_memory.hpp"

#include <gtest/gtest.h>

#include "device/real/real_device.hpp"
#include "support/real_memories.hpp"

namespace memreplay {
namespace {

using TimedMemories = RealMemoryTest;
MEMREPLAY_ON_REAL_MEMORY(TimedMemories);

TEST_P(TimedMemories, EveryCallCountsOnceByItsKind) {
  TimedMemory timed(*memory);
  Execution& work = timed.execution();
  const Address region = *timed.allocate(granule);
  const Address range = *timed.reserve(granule);
  const RealMemory::Piece piece = *timed.create(granule);
  ASSERT_TRUE(timed.map(range, granule, piece));
  ASSERT_TRUE(timed.set_access(range, granule));
  work.fill(1, {region, granule}, 1, Touch::all);
  work.check(1, {region, granule}, 1, Touch::all);
  const Execution::Point point = work.record(1);
  work.wait(0, point);
  work.wait(point);
  work.forget(point);
  EXPECT_TRUE(work.mismatches().empty());
  work.synchronise();
  timed.unmap(range, granule);
  timed.destroy(piece);
  timed.release(range, granule);
  timed.free(region);
  const bool host = GetParam() == MemoryKind::host;
  const auto blocks =
      timed.open_allocator({.kind = host ? DriverAllocatorOptions::Kind::malloc
                                         : DriverAllocatorOptions::Kind::stream_ordered});
  blocks->free(blocks->allocate(1000, 0, 2)->address, 2);

  std::uint64_t sum = 0;
  for (std::size_t kind = 0; kind < kCallKinds; ++kind) {
    const CallTimes& times = timed.times()[kind];
    const bool is_wait = kind == static_cast<std::size_t>(CallKind::wait);
    EXPECT_EQ(times.host.count(), is_wait ? 2u : 1u) << name_of(static_cast<CallKind>(kind));
    EXPECT_LE(times.device.count(), host ? 0u : 1u) << name_of(static_cast<CallKind>(kind));
    sum += times.host.sum();
  }
  const auto by_device = [&](CallKind kind) {
    return timed.times()[static_cast<std::size_t>(kind)].device.count();
  };
  EXPECT_EQ(by_device(CallKind::fill) + by_device(CallKind::block_alloc), host ? 0u : 2u);
  EXPECT_EQ(timed.total_ns(), sum);
}

TEST_P(TimedMemories, ARefusalIsACallToo) {
  TimedMemory timed(*memory);
  EXPECT_FALSE(timed.allocate(16 * memory->facts().total));
  EXPECT_EQ(timed.times()[static_cast<std::size_t>(CallKind::alloc)].host.count(), 1u);
}

TEST_P(TimedMemories, ADeviceAddsUpWhatIsAskedOfIt) {
  RealDevice device(*memory, {});
  TimedDevice timed(device);
  EXPECT_EQ(timed.total_ns(), 0u);
  const Address region = *timed.obtain(granule);
  const std::uint64_t after_one = timed.total_ns();
  EXPECT_GT(after_one, 0u);
  timed.give_back(region);
  EXPECT_GT(timed.total_ns(), after_one);
  EXPECT_EQ(timed.usage().frees, 1u);
}

#ifdef MEMREPLAY_STAND_IN_DRIVER
using TimedStandIn = StandInTest;

TEST_F(TimedStandIn, WhereTheClockFailsAfterACallTheNextOneSaysSoAndNothingIsLost) {
  constexpr int kUnknown = 999;  // CUDA_ERROR_UNKNOWN
  TimedMemory timed(open());
  stand_in().fail_call("cuEventRecord", 2, kUnknown);
  const auto region = timed.allocate(kMiB);
  ASSERT_TRUE(region);
  const std::string error = message_of<DeviceError>([&] { timed.free(*region); });
  EXPECT_EQ(error.rfind("cuda:0: cuEventRecord: ", 0), 0u) << error;
  timed.free(*region);
  stand_in().fail_call("cuEventRecord", 4, kUnknown);
  timed.free(*timed.allocate(kMiB));
  EXPECT_THROW((void)timed.times(), DeviceError);
}
#endif

}  // namespace
}  // namespace memreplay

#include "metrics/run_metrics.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

Durations& host(MeasuredTimes& times, CallKind kind) {
  return times.calls[static_cast<std::size_t>(kind)].host;
}

TEST(MeasuredTimes, WorkOnBlocksIsNoTimeOfTheDriver) {
  MeasuredTimes times;
  host(times, CallKind::alloc).add(3);
  host(times, CallKind::wait).add(4);
  host(times, CallKind::fill).add(100);
  host(times, CallKind::check).add(200);
  EXPECT_EQ(times.driver_ns(), 7u);
}

TEST(MeasuredTimes, ThoseOfAnotherReplayAddUp) {
  MeasuredTimes sum;
  MeasuredTimes other;
  other.ops.add(1);
  other.strategy.add(2);
  host(other, CallKind::alloc).add(3);
  other.calls[static_cast<std::size_t>(CallKind::check)].device.add(4);
  sum.add(other);
  sum.add(other);
  EXPECT_EQ(sum.ops.sum(), 2u);
  EXPECT_EQ(sum.strategy.sum(), 4u);
  EXPECT_EQ(host(sum, CallKind::alloc).sum(), 6u);
  EXPECT_EQ(sum.calls[static_cast<std::size_t>(CallKind::check)].device.sum(), 8u);
}

TEST(RunMetrics, NothingCountedIsNothing) {
  const RunMetrics none;
  EXPECT_EQ(none.peak_asked, 0u);
  EXPECT_EQ(none.allocs, 0u);
  EXPECT_EQ(none.events, 0u);
  EXPECT_EQ(none.gap(), 0u);
  const OomPlace nowhere;
  EXPECT_EQ(nowhere.event + nowhere.requested + nowhere.free + nowhere.largest_free + nowhere.live,
            0u);
  EXPECT_EQ(RealUse{}.not_adopted, 0u);
  EXPECT_EQ(BytesInterval{}.low + BytesInterval{}.high, 0u);
}

}  // namespace
}  // namespace memreplay

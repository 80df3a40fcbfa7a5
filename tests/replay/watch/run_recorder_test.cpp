#include "replay/watch/run_recorder.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/simulated_device.hpp"
#include "replay/steps.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct Recorded {
  RunPicture picture;
  RunMetrics metrics;
};

Recorded record(const Trace& trace, const char* strategy, const SimulatedDeviceOptions& options,
                std::uint64_t from = 0, std::size_t most_points = 1000) {
  SimulatedDevice simulated(options);
  DeviceLog log;
  HeardDevice device(simulated, log);
  const auto made =
      make_strategy(parse_strategy(strategy),
                    {.device = device, .capacity = options.capacity, .pools = trace.pools});
  RunRecorder recorder(trace, device, log, {.most_points = most_points});
  const ReplayResult result = replay(program_of(trace, nullptr), *made, device,
                                     {.measuring = {.from = from}, .watcher = &recorder});
  return {recorder.picture(), result.metrics};
}

std::int64_t highest(const std::vector<CurvePoint>& points) {
  return std::ranges::max_element(points, {}, &CurvePoint::value)->value;
}

TEST(RunRecorder, CurvesBeginBeforeTheFirstEvent) {
  const Trace trace = trace_of({{Op::allocate, 0, 2 * kMiB}, {Op::free, 0, 2 * kMiB}});
  const RunPicture picture = record(trace, "direct", {}).picture;
  constexpr auto kTwo = static_cast<std::int64_t>(2 * kMiB);
  EXPECT_EQ(picture.from, 0u);
  EXPECT_EQ(picture.to, 2u);
  EXPECT_EQ(picture.requested, (std::vector<CurvePoint>{{0, 0}, {1, kTwo}, {2, 0}}));
  EXPECT_EQ(picture.allocated, (std::vector<CurvePoint>{{0, 0, 0}, {1, kTwo, kTwo}, {2, 0, 0}}));
  EXPECT_EQ(picture.reserved, picture.allocated);
}

TEST(RunRecorder, WhatLedUpToTheMeasuredEventsIsNotInItButWhatIsHeldThenIs) {
  const Trace trace = trace_of({{Op::allocate, 0, 8 * kMiB},
                                {Op::free, 0, 8 * kMiB},
                                {Op::allocate, 0, 4 * kMiB},
                                {Op::free, 0, 4 * kMiB}});
  const Recorded recorded = record(trace, "direct", {}, 3);
  EXPECT_EQ(recorded.picture.from, 3u);
  EXPECT_EQ(highest(recorded.picture.allocated), static_cast<std::int64_t>(4 * kMiB));
  EXPECT_EQ(recorded.metrics.peak_allocated, 4 * kMiB);
}

TEST(RunRecorder, OfALongReservedPeakTheMomentWithMostAllocatedIsTheFullest) {
  // One segment of 20 MiB from the first event on.
  const Trace trace = trace_of({{Op::allocate, 0, 2 * kMiB},
                                {Op::allocate, 1, 9 * kMiB},
                                {Op::free, 1, 9 * kMiB},
                                {Op::allocate, 1, 8 * kMiB}});
  EXPECT_EQ(record(trace, "torch", {}).picture.fullest, 2u);
}

TEST(RunRecorder, ASegmentLastsFromItsAllocationToItsFree) {
  const Trace trace =
      trace_of({{Op::allocate, 0, 2 * kMiB}, {Op::allocate, 1, 6 * kMiB}, {Op::free, 0, 2 * kMiB}});
  const RunPicture picture = record(trace, "direct", {}).picture;
  ASSERT_EQ(picture.segments.size(), 2u);
  EXPECT_EQ(picture.segments[0].bytes, 2 * kMiB);
  EXPECT_EQ(picture.segments[0].from, 1u);
  EXPECT_EQ(picture.segments[0].to, 3u);
  EXPECT_EQ(picture.segments[1].from, 2u);
  EXPECT_EQ(picture.segments[1].to, 3u);  // to the end
}

TEST(RunRecorder, OfSegmentsThatAreTooManyTheSmallestAreLeftOutAndCounted) {
  const Trace trace = trace_of({{Op::allocate, 0, 2 * kMiB},
                                {Op::allocate, 1, 16 * kMiB},
                                {Op::allocate, 2, 12 * kMiB},
                                {Op::allocate, 3, 14 * kMiB},
                                {Op::allocate, 4, 18 * kMiB}});
  const RunPicture picture = record(trace, "direct", {}, 0, 4).picture;
  EXPECT_EQ(picture.segments_left_out, 1u);
  EXPECT_EQ(picture.segments.size(), 4u);
  EXPECT_EQ(picture.segments.front().bytes, 16 * kMiB);
}

TEST(RunRecorder, AnOomSaysWhatWasAskedAndWhatWasFree) {
  const Trace trace = trace_of({{Op::allocate, 0, 6 * kMiB}, {Op::allocate, 1, 8 * kMiB}});
  const Recorded recorded = record(trace, "direct", {.capacity = 10 * kMiB});
  ASSERT_EQ(recorded.picture.ooms.size(), 1u);
  const RunPicture::Oom& oom = recorded.picture.ooms.front();
  EXPECT_EQ(oom.event, 1u);
  EXPECT_EQ(oom.requested, 8 * kMiB);
  EXPECT_EQ(oom.free, recorded.metrics.first_oom->free);
  EXPECT_EQ(oom.largest_free, recorded.metrics.first_oom->largest_free);
}

TEST(RunRecorder, ARetryIsMarkedWhereItHappened) {
  const Trace trace = trace_of(
      {{Op::allocate, 0, 12 * kMiB}, {Op::free, 0, 12 * kMiB}, {Op::allocate, 0, 14 * kMiB}});
  const Recorded recorded = record(trace, "torch", {.capacity = 20 * kMiB});
  ASSERT_EQ(recorded.metrics.oom_retries, 1u);
  ASSERT_EQ(recorded.picture.retries.size(), 1u);
  EXPECT_EQ(recorded.picture.retries.front().event, 2u);
  EXPECT_EQ(recorded.picture.retries.front().count, 1u);
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/check/check.hpp"
#include "analysis/recordings.hpp"
#include "replay/trial.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

struct Watched {
  RunMetrics so_far;
  RunMetrics truth;
  std::vector<std::optional<std::uint64_t>> over_since;
  std::vector<LiveBlock> live_at_peak;
};

Watched watched(const Recording& recording, const Trace& trace, const char* strategy,
                std::optional<Bytes> capacity, const std::vector<RunWatch::Limit>& limits = {},
                StartMode start = StartMode::cold) {
  const Subject subject(recording, trace);
  SimulatedDeviceOptions device{.capacity = capacity};
  if (recording.format == "csv") device.granularity = 1;
  Trial trial(subject, parse_strategy(strategy), {.device = device});
  RunWatch watch(subject.trace(), trial.usage(), limits);
  const ReplayResult result = trial.run({.program = {.start = start}, .watcher = &watch});
  return {watch.so_far(), result.metrics, watch.over_since(), watch.live_at_peak()};
}

Watched watched(const Recording& recording, const char* strategy,
                std::optional<Bytes> capacity = std::nullopt,
                const std::vector<RunWatch::Limit>& limits = {}) {
  return watched(recording, recording.traces[0], strategy, capacity, limits);
}

RunWatch::Limit at_most(const char* name, std::uint64_t most) {
  return {&checked_metric(name), most};
}

TEST(RunWatch, HasEveryCheckedFigureOfTheBundledRecordings) {
  std::size_t retries = 0;
  std::size_t maps = 0;
  for (const auto& file : std::filesystem::recursive_directory_iterator(MEMREPLAY_TRACES)) {
    const std::string name = file.path().string();
    if (!name.ends_with(".pickle") && !name.ends_with(".csv")) continue;
    const Recording recording = read_recording(name);
    for (const Trace& trace : recording.traces) {
      for (const char* strategy : {"torch", "torch:expandable_segments=True", "bfc", "direct"}) {
        for (const std::optional<Bytes> capacity : {std::optional<Bytes>(), {300 * kMiB}}) {
          for (const StartMode start : {StartMode::cold, StartMode::automatic}) {
            if (start == StartMode::automatic && trace.coverage.starts_empty) continue;
            const Watched run = watched(recording, trace, strategy, capacity, {}, start);
            for (const CheckedMetric& metric : checked_metrics()) {
              EXPECT_EQ(metric.of(run.so_far), metric.of(run.truth))
                  << name << ' ' << strategy << ' ' << metric.name;
            }
            retries += run.truth.oom_retries;
            maps += run.truth.device_maps;
          }
        }
      }
    }
  }
  EXPECT_GT(retries, 0u);  // or the figures would be equal for being nothing
  EXPECT_GT(maps, 0u);
}

TEST(RunWatch, SaysAtWhichEventALimitWasPassed) {
  const Recording recording =
      RecordingWriter().alloc(0, 10).alloc(1, 10).alloc(2, 10).free(2).alloc(3, 90).recording();
  const Watched run =
      watched(recording, "direct", std::nullopt,
              {at_most("peak_allocated_bytes", 29), at_most("peak_allocated_bytes", 30),
               at_most("device_allocs", 1), at_most("peak_requested_bytes", 110)});
  using Event = std::optional<std::uint64_t>;
  EXPECT_EQ(run.over_since, (std::vector<Event>{Event(2), Event(4), Event(1), Event()}));
}

TEST(RunWatch, WhatCameBackWithinIsOverSinceTheLastTime) {
  const Recording recording =
      RecordingWriter().alloc(0, 50).free(0).alloc(1, 5).alloc(2, 60).recording();
  const Watched run = watched(recording, "direct", std::nullopt,
                              {at_most("end_allocated_bytes", 40), at_most("ooms", 0)});
  EXPECT_EQ(run.over_since[0], 3u);
  EXPECT_FALSE(run.over_since[1]);
}

TEST(RunWatch, WhatWasNotServedIsNotLiveAtThePeak) {
  const Recording recording = RecordingWriter().alloc(0, 10).alloc(1, 500).alloc(2, 20).recording();
  const Watched run = watched(recording, "direct", 100, {at_most("ooms", 0)});
  ASSERT_EQ(run.live_at_peak.size(), 2u);
  EXPECT_EQ(run.live_at_peak[0].requested, 10u);
  EXPECT_EQ(run.live_at_peak[1].requested, 20u);
  EXPECT_EQ(run.over_since[0], 1u);
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include <atomic>

#include "random_recording.hpp"
#include "real_trial.hpp"
#include "strategy/registered.hpp"

// Replays on real memory beside the same in simulation.

namespace memreplay {
namespace {

constexpr Bytes kEnough = 512 * kMiB;
constexpr Bytes kTooLittle = 6 * kMiB;

void expect_same(const Outcome& real, const Outcome& simulated) {
  ASSERT_EQ(real.holdings.holdings().size(), simulated.holdings.holdings().size());
  EXPECT_EQ(first_difference(real.holdings, simulated.holdings), std::nullopt);
  const RunMetrics& a = real.metrics;
  const RunMetrics& b = simulated.metrics;
  EXPECT_EQ(a.peak_reserved, b.peak_reserved);
  EXPECT_EQ(a.peak_allocated, b.peak_allocated);
  EXPECT_EQ(a.ooms, b.ooms);
  EXPECT_EQ(a.oom_retries, b.oom_retries);
  EXPECT_EQ(a.device_allocs, b.device_allocs);
  EXPECT_EQ(a.device_frees, b.device_frees);
  EXPECT_EQ(a.device_maps, b.device_maps);
  EXPECT_EQ(a.device_unmaps, b.device_unmaps);
  EXPECT_EQ(a.syncs, b.syncs);
  EXPECT_EQ(a.counters, b.counters);
}

void expect_touched(const Outcome& real) {
  ASSERT_TRUE(real.metrics.real);
  const TouchedBlocks& touched = real.metrics.real->touched;
  EXPECT_EQ(touched.checked, touched.filled);
}

std::vector<std::string> strategies_to_compare() {
  std::vector<std::string> all = {"torch:expandable_segments=True", "bfc:coalesce_regions=true",
                                  "cub", "direct"};
  for (const StrategyInfo& info : strategies()) {
    const bool needs_settings = info.name == "recorded";
    if (info.needs_device.empty() && !needs_settings) all.push_back(example_of(info));
  }
  return all;
}

using RealReplays = RealMemoryTest;
MEMREPLAY_ON_REAL_MEMORY(RealReplays);

TEST_P(RealReplays, EveryStrategyHoldsWhatItHoldsInSimulationAfterEveryEvent) {
  const Recording recording = random_recording({});
  for (const std::string& strategy : strategies_to_compare()) {
    SCOPED_TRACE(strategy);
    // A driver that has it places the blocks itself.
    if (strategy == "cuda-async" && GetParam() == MemoryKind::stand_in) continue;
    const Outcome real = run(recording, strategy, kEnough, granule, memory.get());
    expect_same(real, run(recording, strategy, kEnough, granule, nullptr));
    expect_touched(real);
    EXPECT_EQ(real.metrics.real->touched.filled + real.metrics.ooms, real.metrics.allocs);
  }
}

TEST_P(RealReplays, OnTooSmallADeviceTheSameRequestsAreRefused) {
  const Recording recording = random_recording({.seed = 2});
  std::uint64_t ooms = 0;
  for (const std::string& strategy : strategies_to_compare()) {
    SCOPED_TRACE(strategy);
    if (strategy == "cuda-async" && GetParam() == MemoryKind::stand_in) continue;
    const Outcome real = run(recording, strategy, kTooLittle, granule, memory.get());
    expect_same(real, run(recording, strategy, kTooLittle, granule, nullptr));
    expect_touched(real);
    ooms += real.metrics.ooms;
  }
  EXPECT_GT(ooms, 100u);
}

TEST_P(RealReplays, TheBlocksOfADriverAreSeparate) {
  const bool host = GetParam() == MemoryKind::host;
  for (const char* strategy : {"malloc", "cuda-async", "cuda-direct"}) {
    if (host != (std::string_view(strategy) == "malloc")) continue;
    SCOPED_TRACE(strategy);
    for (const std::uint64_t seed : {1, 2, 3}) {
      const Outcome real =
          run(random_recording({.seed = seed}), strategy, kEnough, granule, memory.get());
      EXPECT_EQ(real.metrics.ooms, 0u);
      EXPECT_GE(real.metrics.peak_reserved, real.metrics.peak_allocated / (host ? 2 : 1));
      expect_touched(real);
    }
    const Outcome small =
        run(random_recording({.seed = 2}), strategy, kTooLittle, granule, memory.get());
    EXPECT_GT(small.metrics.ooms, 0u);
    EXPECT_TRUE(small.finished);
    expect_touched(small);
  }
}

TEST_P(RealReplays, EveryOperationAndEveryCallIsTimed) {
  const Outcome real =
      run(random_recording({}), "torch:expandable_segments=True", kEnough, granule, memory.get());
  ASSERT_TRUE(real.metrics.times);
  const auto calls = [&](CallKind kind) {
    return real.metrics.times->calls[static_cast<std::size_t>(kind)].host.count();
  };
  EXPECT_EQ(calls(CallKind::map), calls(CallKind::create));
  EXPECT_GE(calls(CallKind::map), real.metrics.device_maps);
  EXPECT_EQ(calls(CallKind::fill), real.metrics.real->touched.filled);
  EXPECT_GT(real.metrics.times->ops.count(), real.metrics.allocs);
}

TEST_P(RealReplays, WhatIsCancelledGivesEverythingBackAndSaysWhatItFound) {
  struct CancelLater final : Watcher {
    void on_event(const EventState& state, const Strategy&) override {
      if (state.event == 70) cancelled = true;
    }
    std::atomic<bool> cancelled = false;
  } later;
  const Recording recording = random_recording({});
  const Subject subject(recording, recording.traces.front());
  for (const char* strategy : {"torch", "torch:expandable_segments=True", "gmlake"}) {
    Trial trial(Contender(subject, parse_strategy(strategy)),
                {.stops = {.cancelled = &later.cancelled},
                 .memory = memory.get(),
                 .touch = Touch::all,
                 .timed = true});
    later.cancelled = false;
    const ReplayResult result = trial.run(&later);
    EXPECT_FALSE(result.finished);
    EXPECT_GT(result.metrics.events, 70u);
    EXPECT_LT(result.metrics.events, 200u);
    EXPECT_EQ(result.metrics.real->touched.checked, result.metrics.real->touched.filled);
  }
}

/// A recording that begins with two segments, a live block in each.
Recording warm_recording(Bytes granule) {
  TraceBuilder builder(0);
  const std::uint16_t lane = builder.lane(0, PoolId{});
  const Slot kept = builder.take_slot();
  const Slot freed = builder.take_slot();
  const Slot later = builder.take_slot();
  const Bytes unit = 10 * granule;
  builder.add(Op::free, lane, freed, unit);
  builder.add(Op::allocate, lane, later, 3 * unit);
  builder.add(Op::empty_cache, lane, kNoSlot, 0);
  builder.add(Op::free, lane, later, 3 * unit);
  Recording recording;
  recording.format = "torch-snapshot";
  recording.texts = {""};
  recording.stacks = {{}};
  Trace trace = builder.finish();
  const auto segment = [&](Address at, Slot slot) {
    SegmentInfo made{.address = at, .size = 2 * unit};
    made.blocks = {{.address = at,
                    .size = unit,
                    .requested = unit,
                    .state = BlockState::allocated,
                    .slot = slot},
                   {.address = at + unit, .size = unit}};
    return made;
  };
  trace.start.segments = {segment(0x7f0000000000, kept), segment(0x7f1000000000, freed)};
  trace.coverage.starts_empty = false;
  trace.addresses = {0x7f1000000000, 0x7f2000000000, 0, 0x7f2000000000};
  recording.traces.push_back(trace);
  return recording;
}

TEST_P(RealReplays, AStartStateIsThereAndTouched) {
  const Bytes unit = std::max<Bytes>(granule, 2 * kMiB);
  for (const bool expandable : {false, true}) {
    Recording recording = warm_recording(unit);
    recording.settings.present = true;
    recording.settings.expandable_segments = expandable;
    for (SegmentInfo& segment : recording.traces.front().start.segments) {
      segment.expandable = expandable;
    }
    const std::string strategy =
        expandable ? "torch:expandable_segments=True" : "torch:expandable_segments=False";
    const Outcome real = run(recording, strategy, kEnough, granule, memory.get());
    const Outcome simulated = run(recording, strategy, kEnough, granule, nullptr);
    expect_same(real, simulated);
    expect_touched(real);
    EXPECT_TRUE(real.started_exact);
    EXPECT_EQ(real.metrics.real->not_adopted, 0u);
    EXPECT_EQ(real.metrics.real->touched.filled, 3u);
  }
}

}  // namespace
}  // namespace memreplay

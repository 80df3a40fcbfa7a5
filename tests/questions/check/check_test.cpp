#include "questions/check/check.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/error.hpp"
#include "program/recorded_device.hpp"
#include "questions/check/tolerance.hpp"
#include "replay/trial.hpp"
#include "run/late_start/late_start.hpp"
#include "support/recordings.hpp"
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
  Trial trial(Contender(subject, parse_strategy(strategy)),
              {.program = {.start = start}, .device = device});
  RunWatch watch(subject.trace(), trial.usage(), limits);
  const ReplayResult result = trial.run(&watch);
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

BaselineEntry entry_with(const char* metric, std::uint64_t value, const char* tolerance) {
  BaselineEntry entry{.trace = "written.csv", .setup = {.strategy = "direct"}};
  entry.metrics.emplace(metric, BaselineMetric{value, parse_tolerance(tolerance).value()});
  return entry;
}

EntryCheck check_of(const Recording& recording, const BaselineEntry& entry) {
  const Subject subject(recording, recording.traces[0]);
  return check_entry(subject, LateStart(subject, {}), entry);
}

Recording bundled(const std::string& name) {
  return read_recording(MEMREPLAY_TRACES "/torch/" + name);
}

// The entry of a recording as --update would write it.
BaselineEntry baseline_of(const Recording& recording) {
  BaselineEntry entry{.trace = recording.path};
  entry.metrics["peak_reserved_bytes"];
  entry.metrics["peak_allocated_bytes"];
  return updated(entry, check_of(recording, entry));
}

// As above, with the blocks from before counted in.
BaselineEntry counting(const char* strategy) {
  BaselineEntry entry{
      .trace = "late.pickle", .setup = {.strategy = strategy}, .from_before = FromBefore::counted};
  entry.metrics["peak_reserved_bytes"];
  entry.metrics["peak_allocated_bytes"];
  return entry;
}

TEST(Check, TheLimitItselfIsWithin) {
  const Recording recording = RecordingWriter().alloc(0, 102).recording();
  EXPECT_TRUE(check_of(recording, entry_with("peak_allocated_bytes", 100, "2%")).passed());
  const EntryCheck over = check_of(recording, entry_with("peak_allocated_bytes", 100, "1"));
  EXPECT_FALSE(over.passed());
  EXPECT_EQ(over.values[0].value, 102u);
  EXPECT_EQ(over.values[0].limit, 101u);
}

TEST(Check, ABudgetLimitsWhatTheToleranceAllows) {
  const Recording recording = RecordingWriter().alloc(0, 102).recording();
  BaselineEntry entry = entry_with("peak_allocated_bytes", 100, "50%");
  entry.metrics.begin()->second.budget = 101;
  const EntryCheck over = check_of(recording, entry);
  EXPECT_FALSE(over.passed());
  EXPECT_EQ(over.values[0].limit, 101u);
  EXPECT_TRUE(over.values[0].of_budget);
  entry.metrics.begin()->second.budget = 1000;
  const EntryCheck within = check_of(recording, entry);
  EXPECT_EQ(within.values[0].limit, 150u);
  EXPECT_FALSE(within.values[0].of_budget);
}

TEST(Check, WhatGrewIsFoundInTheWholePathOfItsFile) {
  RecordingWriter writer;
  const auto stack = writer.stack({"/home/me/job/model.py:41 forward"});
  writer.alloc(0, 300, stack);
  BaselineEntry entry = entry_with("peak_allocated_bytes", 100, "0");
  entry.places = PlacesHeld{.places = {{"model.py:41 forward", 100}}};
  const EntryCheck check = check_of(writer.recording(), entry);
  ASSERT_TRUE(check.code.contains("model.py:41 forward"));
  EXPECT_EQ(check.code.at("model.py:41 forward").file, "/home/me/job/model.py");
  EXPECT_EQ(check.code.at("model.py:41 forward").line, 41u);
}

TEST(Check, NamesTheFirstEventOverTheLimitAndItsStep) {
  RecordingWriter writer;
  for (Slot step = 0; step < 3; ++step) {
    writer.alloc(step, 10).add(Op::marker, kNoSlot, 0);
  }
  const EntryCheck check =
      check_of(writer.recording(), entry_with("peak_requested_bytes", 20, "0"));
  EXPECT_EQ(check.values[0].first_event_over, 4u);
  EXPECT_EQ(check.values[0].step, 3u);
}

TEST(Check, WithinTheLimitThereIsNoSuchEvent) {
  const Recording recording = RecordingWriter().alloc(0, 50).free(0).recording();
  const EntryCheck check = check_of(recording, entry_with("end_allocated_bytes", 0, "0"));
  EXPECT_TRUE(check.passed());
  EXPECT_FALSE(check.values[0].first_event_over);
}

TEST(Check, WhatIsOverComesFirst) {
  BaselineEntry entry = entry_with("device_allocs", 0, "0");
  entry.metrics.emplace("peak_reserved_bytes", BaselineMetric{UINT64_MAX});
  const EntryCheck check = check_of(RecordingWriter().alloc(0, 50).recording(), entry);
  ASSERT_EQ(check.values.size(), 2u);
  EXPECT_EQ(check.values[0].metric->name, "device_allocs");
  EXPECT_FALSE(check.passed());
}

TEST(Check, BlocksFromBeforeTheRecordingAreLeftOutAndCounted) {
  Recording recording = RecordingWriter().alloc(1, 5).recording();
  Trace& trace = recording.traces[0];
  trace.start.segments = {
      {.address = 0,
       .size = 100,
       .blocks = {{.size = 60, .requested = 50, .state = BlockState::allocated, .slot = 0},
                  {.address = 60, .size = 40}}}};
  trace.coverage = {.starts_empty = false, .preexisting_blocks = 1, .preexisting_bytes = 50};
  const EntryCheck check = check_of(recording, entry_with("peak_requested_bytes", 5, "0"));
  EXPECT_EQ(check.values[0].value, 5u);
  EXPECT_EQ(check.places.places.begin()->second, 5u);
  EXPECT_FALSE(check.counts_before());
  EXPECT_EQ(check.blocks_before, 1u);
  EXPECT_EQ(check.bytes_before, 50u);
  EXPECT_EQ(check.inexact_because, "");

  BaselineEntry entry = entry_with("peak_requested_bytes", 55, "0");
  entry.from_before = FromBefore::counted;
  const EntryCheck counted = check_of(recording, entry);
  EXPECT_TRUE(counted.counts_before());
  EXPECT_EQ(counted.values[0].value, 55u);
  EXPECT_TRUE(counted.passed());
}

TEST(Check, WhatWasThereBeforeIsCountedInAsTheProgramReservedIt) {
  const Recording recording = bundled("warm_ring.pickle");
  const Trace& trace = recording.traces[0];
  const BaselineEntry entry = counting("recorded");
  const EntryCheck check = check_of(recording, entry);
  EXPECT_EQ(check.values[0].value, recorded_peak_reserved(trace));
  EXPECT_FALSE(check.values[0].interval);
  EXPECT_EQ(check.inexact_because, "");
  Bytes held = 0;
  for (const auto& [place, bytes] : check.places.places) held += bytes;
  EXPECT_GT(held, trace.coverage.preexisting_bytes);
  EXPECT_TRUE(check_of(recording, updated(entry, check)).passed());
}

TEST(Check, UnderOtherRulesTheLikeliestValueIsJudgedAndItsIntervalKept) {
  const Recording recording = bundled("warm_ring.pickle");
  const BaselineEntry entry = counting("torch:expandable_segments=True");
  const EntryCheck check = check_of(recording, entry);
  ASSERT_TRUE(check.values[0].interval);
  EXPECT_LT(check.values[0].interval->low, check.values[0].value);
  EXPECT_GT(check.values[0].interval->high, check.values[0].value);
  EXPECT_FALSE(check.values[1].interval);  // what is allocated is known
  EXPECT_TRUE(check_of(recording, updated(entry, check)).passed());
}

TEST(Check, NamesTheStackOfTheLayerThatWasAdded) {
  const BaselineEntry before = baseline_of(bundled("layers_4.pickle"));
  const EntryCheck check = check_of(bundled("layers_5.pickle"), before);
  EXPECT_FALSE(check.passed());
  ASSERT_EQ(check.grown.size(), 3u);
  // 40 MiB of activations and two weights of 16 MiB are live at the peak in each block.
  EXPECT_EQ(check.grown[0].place, "model.py:13 forward");
  EXPECT_EQ(check.grown[0].grown, 40 * kMiB);
  EXPECT_EQ(check.grown[1].place, "model.py:10 __init__");
  EXPECT_EQ(check.grown[1].grown, 16 * kMiB);
  EXPECT_EQ(check.grown[2].place, "model.py:9 __init__");
  EXPECT_EQ(check.grown[2].grown, 16 * kMiB);
}

TEST(Check, ALayerLessIsWithinThoughNothingIsEqual) {
  const BaselineEntry before = baseline_of(bundled("layers_5.pickle"));
  const EntryCheck check = check_of(bundled("layers_4.pickle"), before);
  EXPECT_TRUE(check.passed());
  EXPECT_TRUE(check.grown.empty());
}

TEST(Check, SaysWhyPlacesWereNotCompared) {
  RecordingWriter writer;
  const Recording recording = writer.alloc(0, 102, writer.stack({"a.py:1 f"})).recording();
  BaselineEntry entry = entry_with("peak_allocated_bytes", 1, "0");
  EXPECT_NE(check_of(recording, entry).not_compared, "");
  entry.places = PlacesHeld{.by = PlacesHeld::By::size, .places = {}};
  EXPECT_EQ(check_of(recording, entry).not_compared, "stacks were recorded on one side only");
}

TEST(Baseline, KeepsItsEntriesInOrderAndEachOnce) {
  Baseline baseline;
  for (const auto& [trace, gpu] : {std::pair("b", 0), std::pair("a", 1), std::pair("a", 0)}) {
    baseline.add({.trace = trace, .gpu = gpu});
  }
  EXPECT_EQ(baseline.entries[0].gpu, 0);
  EXPECT_EQ(baseline.entries[1].gpu, 1);
  EXPECT_EQ(baseline.entries[2].trace, "b");
  EXPECT_THROW(baseline.add({.trace = "a", .gpu = 1}), UsageError);
  EXPECT_EQ(baseline.find("a", 1, "bfc"), nullptr);
}

TEST(CheckedMetrics, AnUnknownNameGetsTheNearest) {
  try {
    checked_metric("peak_reserved_byte");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'peak_reserved_bytes'?"),
              std::string::npos);
  }
}

BaselineEntry under(const char* strategy) {
  return {.trace = "late.pickle", .setup = {.strategy = strategy}};
}

TEST(CheckWithStart, UnderTheRecordedRulesItIsWhatTheProgramReserved) {
  const Recording recording = bundled("warm_ring.pickle");
  const Subject subject(recording, recording.traces[0]);
  const auto with = with_start(subject, LateStart(subject, {}), under("recorded"));
  ASSERT_TRUE(with);
  EXPECT_EQ(with->peak_reserved, recorded_peak_reserved(recording.traces[0]));
  EXPECT_FALSE(with->interval);
  EXPECT_EQ(with->inexact_because, "");
}

TEST(CheckWithStart, UnderOtherRulesItIsAnEstimateInItsInterval) {
  const Recording recording = bundled("warm_ring.pickle");
  const Subject subject(recording, recording.traces[0]);
  const auto with =
      with_start(subject, LateStart(subject, {}), under("torch:expandable_segments=True"));
  ASSERT_TRUE(with);
  ASSERT_TRUE(with->interval);
  EXPECT_LT(with->interval->peak_reserved.low, with->peak_reserved);
  EXPECT_GT(with->interval->peak_reserved.high, with->peak_reserved);
  EXPECT_FALSE(with->inexact_because.empty());
}

TEST(CheckWithStart, OfAnOlderEntryTheValuesThatAreJudgedAreThoseOfAnEmptyDevice) {
  const Recording recording = bundled("warm_ring.pickle");
  const Subject subject(recording, recording.traces[0]);
  const EntryCheck check = check_of(recording, baseline_of(recording));
  const auto with = with_start(subject, LateStart(subject, {}), under("torch"));
  ASSERT_TRUE(with);
  EXPECT_LT(check.values[0].value, with->peak_reserved);
  EXPECT_TRUE(check.passed());
}

TEST(CheckWithStart, NothingIsSaidOfARecordingFromTheStartOrWhereAPlanIsFollowed) {
  const Recording whole = bundled("layers_4.pickle");
  const Subject from_start(whole, whole.traces[0]);
  EXPECT_FALSE(with_start(from_start, LateStart(from_start, {}), under("torch")));
  const Recording late = bundled("warm_ring.pickle");
  const Subject subject(late, late.traces[0]);
  EXPECT_FALSE(with_start(subject, LateStart(subject, {}), under("plan")));
}

}  // namespace

}  // namespace memreplay

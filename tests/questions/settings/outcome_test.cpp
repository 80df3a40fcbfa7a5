#include "questions/settings/outcome.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

TuneOutcome outcome(std::uint64_t ooms, Bytes reserved, std::uint64_t calls,
                    const Setting& setting = {}) {
  Run run;
  run.metrics.ooms = ooms;
  run.metrics.peak_reserved = reserved;
  run.metrics.device_allocs = calls;
  return {.settings = {setting}, .runs = {run}};
}

TEST(TuneOutcome, WhoServesMoreIsBetterWhateverItReserves) {
  EXPECT_TRUE(better(outcome(0, 900, 9), outcome(1, 100, 1), Objective::reserved));
}

TEST(TuneOutcome, TheObjectiveDecidesThen) {
  const TuneOutcome small = outcome(0, 100, 9);
  const TuneOutcome quick = outcome(0, 900, 1);
  EXPECT_TRUE(better(small, quick, Objective::reserved));
  EXPECT_TRUE(better(quick, small, Objective::calls));
}

TEST(TuneOutcome, AmongEqualsTheSimplerIsBetter) {
  EXPECT_TRUE(better(outcome(0, 1, 1), outcome(0, 1, 1, {.expandable_segments = true}),
                     Objective::reserved));
}

TEST(TuneOutcome, OfSeveralTracesCallsAddUpAndTheHighestPeakCounts) {
  TuneOutcome ranks = outcome(1, 100, 2);
  ranks.runs.push_back(outcome(2, 300, 5).runs.front());
  const RunSoFar total = ranks.total();
  EXPECT_EQ(total.ooms, 3u);
  EXPECT_EQ(total.peak_reserved, 300u);
  EXPECT_EQ(total.device_calls, 7u);
}

TEST(TuneOutcome, TheParetoFrontIsWhatNothingElseBeatsThroughout) {
  std::vector<TuneOutcome> outcomes = {outcome(0, 100, 9), outcome(0, 900, 1), outcome(0, 900, 2),
                                       outcome(0, 100, 9)};
  mark_pareto_front(outcomes);
  EXPECT_TRUE(outcomes[0].pareto);
  EXPECT_TRUE(outcomes[1].pareto);
  EXPECT_FALSE(outcomes[2].pareto);
  EXPECT_TRUE(outcomes[3].pareto);
}

TEST(TuneOutcome, IsExactWhereEveryTraceIs) {
  TuneOutcome ranks = outcome(0, 100, 2);
  ranks.runs.push_back(ranks.runs.front());
  EXPECT_TRUE(ranks.is_exact());
  ranks.runs.back().exact = false;
  EXPECT_FALSE(ranks.is_exact());
}

TEST(TuneOutcome, WhatRunsOutOfMemoryBeforeALateStartDoesNotServe) {
  TuneOutcome late = outcome(0, 100, 2);
  EXPECT_TRUE(late.serves());
  late.runs.front().refused_before = 1;
  EXPECT_FALSE(late.serves());
}

TuneOutcome full(std::uint64_t retries, Bytes reserved, std::uint64_t calls,
                 const Setting& setting = {}) {
  TuneOutcome made = outcome(0, reserved, calls, setting);
  made.runs.front().metrics.oom_retries = retries;
  return made;
}

TEST(TuneOutcome, OnAFullDeviceRetriesCountFirstThenBytesThenCalls) {
  constexpr Objective kFull = Objective::full_device;
  EXPECT_TRUE(better(full(13, 900, 9), full(39, 800, 1), kFull));
  EXPECT_TRUE(better(full(13, 800, 9), full(13, 900, 1), kFull));
  EXPECT_TRUE(gains(full(39, 900, 9).total(), full(13, 900, 9).total(), kFull));
  EXPECT_FALSE(gains(full(13, 900, 9).total(), full(39, 500, 9).total(), kFull));
  EXPECT_TRUE(gains(full(13, 900, 900).total(), full(13, 900, 500).total(), kFull));
  EXPECT_FALSE(gains(full(13, 900, 900).total(), full(13, 900, 899).total(), kFull));
}

TEST(TuneOutcome, WhereOnlyCallsFallTheSimplestWithTheFewestIsRecommended) {
  const std::vector<TuneOutcome> outcomes = {
      full(9, 1000, 50, {.expandable_segments = true, .large_segment_size_mb = 64}),
      full(9, 1000, 90), full(9, 1001, 50, {.expandable_segments = true})};
  const auto all = [](const TuneOutcome&) { return true; };
  const RunSoFar now = full(9, 1000, 90).total();
  EXPECT_EQ(recommended(outcomes, now, Objective::full_device, all), 2u);
  EXPECT_EQ(recommended(outcomes, now, Objective::reserved, all), 1u);
}

TEST(TuneOutcome, RunsAreNamedByWhatIsRankedThere) {
  TuneResult result;
  result.baseline = "recorded";
  result.baseline_outcome = outcome(0, 900, 1);
  result.outcomes = {outcome(0, 100, 1, {.expandable_segments = true}), outcome(0, 900, 1)};
  name_runs(result);
  EXPECT_EQ(result.baseline_outcome.runs[0].strategy, "recorded");
  EXPECT_EQ(result.outcomes[0].runs[0].strategy, "torch:expandable_segments=True");
  EXPECT_EQ(result.outcomes[1].runs[0].strategy, "torch");
  EXPECT_EQ(result.outcomes[1].runs[0].place, 2u);
}

}  // namespace
}  // namespace memreplay

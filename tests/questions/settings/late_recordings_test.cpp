#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>

#include "questions/settings/search.hpp"
#include "run/late_start/late_recording.hpp"
#include "strategy/torch/settings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

using Kind = LateVerdict::Kind;

Recording bundled(const char* name) {
  return read_recording(std::string(MEMREPLAY_TRACES) + "/torch/" + name);
}

TuneOptions options_for(const std::vector<const Subject*>& subjects) {
  TuneOptions options;
  options.bench.subjects = subjects;
  options.bench.devices.resize(subjects.size());
  options.bench.assumed_size.resize(subjects.size());
  options.runs = 40;
  return options;
}

struct Tuned {
  TuneResult result;
  LateVerdict verdict;
};

Tuned weighed(const TuneOptions& options) {
  Tuned tuned{tune(options), {}};
  tuned.verdict = weigh_late_recordings(options, tuned.result);
  return tuned;
}

Tuned weighed(const Recording& recording) {
  const Subject subject(recording, recording.traces.front());
  return weighed(options_for({&subject}));
}

TEST(LateRecordings, WhatTheyDoNotTellApartIsNotRecommended) {
  const Tuned tuned = weighed(bundled("warm_ring.pickle"));
  EXPECT_EQ(tuned.verdict.kind, Kind::undecided);
  EXPECT_FALSE(tuned.result.helps);
  EXPECT_GE(tuned.verdict.best.high, tuned.verdict.baseline.low);
  // Under its own settings the recording is exact.
  EXPECT_EQ(tuned.verdict.baseline.low, tuned.verdict.baseline.high);
}

TEST(LateRecordings, ARecordingFromTheStartIsNotWeighed) {
  const Tuned tuned = weighed(bundled("seq_growth.pickle"));
  EXPECT_EQ(tuned.verdict.kind, Kind::not_late);
  EXPECT_TRUE(tuned.result.helps);
}

TEST(LateRecordings, WhatIsBetterByTheWholeIntervalIsRecommended) {
  const Recording whole = bundled("seq_growth.pickle");
  const Tuned tuned = weighed(begun_late(whole, whole.traces.at(0).size() / 2));
  ASSERT_EQ(tuned.verdict.kind, Kind::supported);
  EXPECT_TRUE(tuned.result.helps);
  const TuneOutcome& best = tuned.result.outcomes[tuned.result.best];
  EXPECT_LT(best.peak_interval().high, tuned.result.baseline_outcome.peak_interval().low);
  EXPECT_EQ(best.peak_interval().high, tuned.verdict.best.high);
}

TEST(LateRecordings, EveryOutcomeIsExactOrHasAnInterval) {
  const Tuned tuned = weighed(bundled("warm_ring.pickle"));
  EXPECT_EQ(tuned.verdict.weighed, tuned.verdict.open);
  for (const TuneOutcome& outcome : tuned.result.outcomes) {
    EXPECT_EQ(outcome.estimated(), !outcome.is_exact());
    if (!outcome.estimated()) continue;
    EXPECT_LE(outcome.peak_interval().low, outcome.runs.front().metrics.peak_reserved);
    EXPECT_GE(outcome.peak_interval().high, outcome.runs.front().metrics.peak_reserved);
  }
}

TEST(LateRecordings, OnlyTheRecordedSettingIsExact) {
  const Tuned tuned = weighed(bundled("warm_ring.pickle"));
  for (const TuneOutcome& outcome : tuned.result.outcomes) {
    if (outcome.estimated()) continue;
    EXPECT_EQ(outcome.settings, std::vector{Setting{}});
  }
  EXPECT_TRUE(std::ranges::any_of(tuned.result.outcomes, [](const TuneOutcome& outcome) {
    return outcome.settings.front() == Setting{};
  }));
}

TEST(LateRecordings, WhatTheBudgetDoesNotReachStandsBehind) {
  const Recording recording = bundled("warm_ring.pickle");
  const Subject subject(recording, recording.traces.front());
  TuneOptions options = options_for({&subject});
  options.late_events = 0;
  const Tuned tuned = weighed(options);
  EXPECT_EQ(tuned.verdict.weighed, 8u);
  EXPECT_GT(tuned.verdict.open, 8u);
  const auto unknown = [](const TuneOutcome& outcome) {
    return !outcome.estimated() && !outcome.is_exact();
  };
  EXPECT_TRUE(std::ranges::is_partitioned(tuned.result.outcomes, std::not_fn(unknown)));
}

TEST(LateRecordings, OfSeveralTheHighestIntervalCounts) {
  const Recording whole = bundled("layers_5.pickle");
  const Recording late = begun_late(whole, whole.traces.at(0).size() / 2);
  const Subject from_start(whole, whole.traces.front());
  const Subject subject(late, late.traces.front());
  const Tuned tuned = weighed(options_for({&from_start, &subject}));
  EXPECT_NE(tuned.verdict.kind, Kind::not_late);
  for (const TuneOutcome& outcome : tuned.result.outcomes) {
    if (!outcome.weighed) continue;
    EXPECT_FALSE(outcome.runs[0].interval);
    ASSERT_TRUE(outcome.runs[1].interval);
    EXPECT_EQ(outcome.peak_interval().high, std::max(outcome.runs[0].metrics.peak_reserved,
                                                     outcome.runs[1].interval->peak_reserved.high));
  }
}

TEST(LateRecordings, WhereItIsCancelledNothingIsRecommended) {
  const Recording recording = bundled("warm_ring.pickle");
  const Subject subject(recording, recording.traces.front());
  TuneOptions options = options_for({&subject});
  Tuned tuned{tune(options), {}};
  std::atomic<bool> cancelled = false;
  options.replaying.stops.cancelled = &cancelled;
  options.progress = [&](double) { cancelled = true; };
  tuned.verdict = weigh_late_recordings(options, tuned.result);
  EXPECT_EQ(tuned.verdict.kind, Kind::interrupted);
  EXPECT_FALSE(tuned.result.helps);
}

}  // namespace
}  // namespace memreplay

#include "analysis/tune/late_recordings.hpp"

#include <gtest/gtest.h>

#include "strategy/torch/settings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

struct Tuned {
  TuneResult result;
  LateVerdict verdict;
};

Tuned weighed(const char* name, Objective objective = Objective::reserved) {
  const Recording recording = read_recording(std::string(MEMREPLAY_TRACES) + "/torch/" + name);
  const Subject subject(recording, recording.traces.front());
  TuneOptions options;
  options.bench = {{&subject}, {SimulatedDeviceOptions{}}, {false}};
  options.objective = objective;
  options.runs = 40;
  Tuned tuned;
  tuned.result = tune(options);
  EXPECT_TRUE(tuned.result.helps);
  tuned.verdict = weigh_late_recordings(options, tuned.result);
  return tuned;
}

TEST(LateRecordings, WhatTheyDoNotTellApartIsNotRecommended) {
  const Tuned tuned = weighed("warm_ring.pickle");
  EXPECT_TRUE(tuned.verdict.looked);
  EXPECT_FALSE(tuned.verdict.supported);
  EXPECT_FALSE(tuned.result.helps);
  EXPECT_GE(tuned.verdict.best.high, tuned.verdict.baseline.low);
  // Under its own settings the recording is exact.
  EXPECT_EQ(tuned.verdict.baseline.low, tuned.verdict.baseline.high);
}

TEST(LateRecordings, ARecordingFromTheStartIsNotWeighed) {
  const Tuned tuned = weighed("seq_growth.pickle");
  EXPECT_FALSE(tuned.verdict.looked);
  EXPECT_TRUE(tuned.result.helps);
}

}  // namespace
}  // namespace memreplay

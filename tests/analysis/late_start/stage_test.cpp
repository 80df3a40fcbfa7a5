#include "analysis/late_start/stage.hpp"

#include <gtest/gtest.h>

#include "analysis/late_start/late_recording.hpp"
#include "analysis/late_start/late_trace.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

using Start = Preparation::Start;

const SimulatedDeviceOptions kEndless{};
const ReplayOptions kPlain{};

TEST(Stage, AnOutcomeIsTheSameWhateverWasAskedBefore) {
  const Recording recording =
      begun_late(read_recording(MEMREPLAY_TRACES "/torch/layers_5.pickle"), 300);
  const Subject subject(recording, recording.traces.at(0));
  const WarmParts parts = warm_parts(subject.trace(), {});
  const Program program = program_of(subject);
  const WarmScript script{program, program, parts};
  const StrategySpec spec = parse_strategy("torch:max_split_size_mb=20");
  Stage asked(subject, script, spec, kEndless, kPlain);
  ASSERT_TRUE(asked.reserved_after({Start::founders_first, {1.2}}));
  ASSERT_TRUE(asked.outcome({Start::founders_first, {1.2}}));
  ASSERT_TRUE(asked.outcome({Start::idle_first, {}}));
  for (const Preparation& preparation :
       {Preparation{Start::founders_first, {1.2, .9, .7}},
        Preparation{Start::founders_first, {1.2}}, Preparation{Start::founders_first, {}}}) {
    Stage fresh(subject, script, spec, kEndless, kPlain);
    const StageOutcome expected = fresh.outcome(preparation).value();
    const StageOutcome found = asked.outcome(preparation).value();
    EXPECT_EQ(found.peak_reserved, expected.peak_reserved);
    EXPECT_EQ(found.end_reserved, expected.end_reserved);
    EXPECT_EQ(found.oom_retries, expected.oom_retries);
    EXPECT_EQ(asked.reserved_after(preparation), fresh.reserved_after(preparation));
  }
}

TEST(Stage, WhatIsMeasuredCallsEmptyCacheWhereTheProgramDid) {
  Recording recording;
  LateTrace writer;
  writer.segment(30 * kMiB).live(30 * kMiB);
  writer.alloc(1, 40 * kMiB).free(1).alloc(2, 60 * kMiB);
  recording.traces.push_back(writer.finish());
  const Trace& trace = recording.traces[0];
  const Subject subject(recording, trace);
  const WarmParts parts = warm_parts(trace, {});
  Reading reading;
  reading.calls = {{.event = 2, .kind = ProgramCall::Kind::empty_cache}};
  const StrategySpec spec = parse_strategy("torch");
  const Preparation start{Start::founders_first, {}};
  const Program calls = program_of(trace, &reading);
  const WarmScript called{calls, calls, parts};
  EXPECT_EQ(Stage(subject, called, spec, kEndless, kPlain).outcome(start)->peak_reserved,
            90 * kMiB);
  const Program plain = program_of(trace, nullptr);
  const WarmScript without{plain, plain, parts};
  EXPECT_EQ(Stage(subject, without, spec, kEndless, kPlain).outcome(start)->peak_reserved,
            130 * kMiB);
}

}  // namespace
}  // namespace memreplay

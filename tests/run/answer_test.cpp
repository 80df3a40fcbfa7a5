#include "run/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>

#include "run/devices.hpp"
#include "run/question.hpp"
#include "support/recordings.hpp"
#include "support/runs.hpp"

namespace memreplay {
namespace {

TEST(Ranking, FewestOomsComeFirstThenTheLeastReserved) {
  std::vector<memreplay::Run> runs = {run_of("small but fails", {.reserved = 10, .ooms = 1}),
                                      run_of("large", {.reserved = 30}),
                                      run_of("middle", {.reserved = 20})};
  set_places(runs);
  EXPECT_EQ(runs[0].place, 3u);
  EXPECT_EQ(runs[1].place, 2u);
  EXPECT_EQ(runs[2].place, 1u);
}

TEST(Ranking, EqualRunsKeepTheOrderGiven) {
  std::vector<memreplay::Run> runs = {run_of("b", {.reserved = 1}), run_of("a", {.reserved = 1})};
  set_places(runs);
  sort_by_place(runs);
  EXPECT_EQ(runs[0].strategy, "b");
}

TEST(Ranking, TheWorstTraceHasTheMostOoms) {
  std::vector<TraceRuns> reports(3);
  reports[0].runs = {run_of("torch", {.reserved = 90})};
  reports[1].runs = {run_of("torch", {.reserved = 50, .ooms = 2})};
  reports[2].runs = {};
  EXPECT_EQ(worst_of(reports), 1u);
}

TEST(Ranking, WhatFitsByMovingBlocksAwayComesAfterWhatFits) {
  std::vector<memreplay::Run> runs = {run_of("moves", {.reserved = 10}),
                                      run_of("holds", {.reserved = 20})};
  runs[0].metrics.moved_out_blocks = 1;
  set_places(runs);
  EXPECT_EQ(runs[0].place, 2u);
}

TEST(Ranking, WhatWasInterruptedComesLastHoweverLittleItReserved) {
  std::vector<memreplay::Run> runs = {run_of("cut", {}), run_of("fails", {.ooms = 5}),
                                      run_of("whole", {.reserved = 30})};
  runs[0].finished = false;
  set_places(runs);
  EXPECT_EQ(runs[0].place, 3u);
  EXPECT_EQ(runs[1].place, 2u);
}

TEST(Ranking, OfRunsStoppedAtTheirOomTheOneThatCameFurthestIsFirst) {
  std::vector<memreplay::Run> runs = {run_of("early", {.reserved = 10, .ooms = 1}),
                                      run_of("late", {.reserved = 20, .ooms = 1})};
  for (memreplay::Run& run : runs) {
    run.finished = false;
    run.stopped_at_oom = true;
  }
  runs[0].metrics.first_oom = OomPlace{.event = 100};
  runs[1].metrics.first_oom = OomPlace{.event = 200};
  set_places(runs);
  EXPECT_EQ(runs[1].place, 1u);
}

TEST(Ranking, AnInterruptedRunIsNoWorst) {
  std::vector<TraceRuns> reports(2);
  reports[0].runs = {run_of("torch", {.reserved = 50})};
  reports[1].runs = {run_of("torch", {.reserved = 90})};
  reports[1].runs[0].finished = false;
  EXPECT_EQ(worst_of(reports), 0u);
}

/// Two blocks of so many MiB each, the first one freed before the second is asked for, or not.
MadeRecording two_blocks(Bytes mebibytes, bool apart) {
  RecordingWriter writer;
  writer.alloc(0, mebibytes * kMiB);
  if (apart) writer.free(0);
  writer.alloc(1, mebibytes * kMiB);
  return {.recording = writer.recording(), .origin = std::make_shared<const Origin>()};
}

/// The likeliest one's run under the usual strategy, beside the others.
Run run_of(const MadeRecordings& made) {
  return run_with_others(made, parse_strategy("torch"), simulated({}), {}, {});
}

TEST(MadeInterval, WithoutOthersThereIsNone) {
  EXPECT_FALSE(run_of({.likeliest = two_blocks(20, true), .others = {}, .edits = {}}).interval);
}

TEST(MadeInterval, ItSpansWhatTheOthersComeTo) {
  MadeRecordings made{.likeliest = two_blocks(30, true), .others = {}, .edits = {}};
  made.others.push_back(two_blocks(30, false));
  made.others.push_back(two_blocks(20, true));
  const memreplay::Run run = run_of(made);
  ASSERT_TRUE(run.interval);
  ASSERT_TRUE(run.interval->peak_requested);
  EXPECT_EQ(run.interval->peak_requested->low, 20 * kMiB);
  EXPECT_EQ(run.interval->peak_requested->high, 60 * kMiB);
  EXPECT_EQ(run.interval->peak_reserved.low, 20 * kMiB);
  EXPECT_EQ(run.interval->peak_reserved.high, 60 * kMiB);
  EXPECT_EQ(run.interval->end_reserved.low, 20 * kMiB);
  EXPECT_EQ(run.interval->end_reserved.high, 60 * kMiB);
}

TEST(MadeInterval, TheFiguresStayThoseOfTheLikeliest) {
  MadeRecordings made{.likeliest = two_blocks(30, true), .others = {}, .edits = {}};
  made.others.push_back(two_blocks(30, false));
  const memreplay::Run alone =
      run_made(made.likeliest, parse_strategy("torch"), simulated({}), {}, {});
  const memreplay::Run run = run_of(made);
  EXPECT_EQ(run.metrics.peak_reserved, alone.metrics.peak_reserved);
  EXPECT_EQ(run.metrics.peak_requested, 30 * kMiB);
  EXPECT_FALSE(alone.interval);
}

TEST(MadeInterval, OthersThatComeToTheSameMakeItNarrow) {
  MadeRecordings made{.likeliest = two_blocks(30, true), .others = {}, .edits = {}};
  made.others.push_back(two_blocks(30, true));
  const memreplay::Run run = run_of(made);
  ASSERT_TRUE(run.interval);
  EXPECT_EQ(run.interval->peak_reserved.low, run.interval->peak_reserved.high);
}

ReplayAnswer answer_for(const std::string& trace, const ReplayQuestion& question,
                        const Control& control) {
  const Inputs inputs({.paths = {MEMREPLAY_TRACES "/" + trace}});
  return answer(inputs, open_devices(question.setup), question, control);
}

ReplayQuestion three_strategies() {
  return {.strategies = {parse_strategy("torch"), parse_strategy("direct"), parse_strategy("bfc")}};
}

TEST(ReplayAnswer, StoppedItKeepsWhatWasReplayedAndSaysHowMuchWasAsked) {
  std::atomic<bool> stop = false;
  const auto stop_at_second = [&](const std::string& what, double) { stop = what == "direct"; };
  ReplayQuestion question = three_strategies();
  question.setup.repeat = 2;  // timed: one after the other
  const ReplayAnswer answered =
      answer_for("torch/layers_4.pickle", question, {.stop = &stop, .progress = stop_at_second});
  EXPECT_TRUE(answered.interrupted);
  const TraceRuns& trace = answered.traces.at(0);
  EXPECT_EQ(trace.asked, 3u);
  ASSERT_GE(trace.runs.size(), 1u);
  EXPECT_LE(trace.runs.size(), 2u);
  EXPECT_TRUE(trace.runs[0].finished);
}

TEST(ReplayAnswer, StoppedBeforeTheFirstEventNothingWasRun) {
  const std::atomic<bool> stop = true;
  const ReplayAnswer answered =
      answer_for("torch/layers_4.pickle", three_strategies(), {.stop = &stop});
  EXPECT_TRUE(answered.traces.at(0).runs.empty());
  EXPECT_EQ(answered.traces.at(0).asked, 3u);
}

TEST(ReplayAnswer, SideBySideThereIsAPlanThatNoStrategyIsBelow) {
  ReplayQuestion question = three_strategies();
  EXPECT_FALSE(answer_for("torch/layers_4.pickle", question, {}).traces.at(0).planned);
  question.ranked = true;
  const TraceRuns trace = answer_for("torch/layers_4.pickle", question, {}).traces.at(0);
  ASSERT_TRUE(trace.planned);
  EXPECT_TRUE(trace.planned->left_out_because.empty());
  EXPECT_TRUE(trace.planned->optimal());
  for (const memreplay::Run& run : trace.runs) {
    EXPECT_EQ(trace.planned->height, run.metrics.peak_requested);
    EXPECT_LE(trace.planned->height, run.metrics.peak_reserved);
  }
}

TEST(ReplayAnswer, APlanThatCostsMoreThanTheReplaysIsLeftOut) {
  const std::string path = testing::TempDir() + "many_live.csv";
  std::ofstream file(path);
  file << "op,id,size\n";
  for (int block = 0; block < 8000; ++block) file << "a," << block << ',' << 512 + block << '\n';
  file.close();
  const Inputs inputs({.paths = {path}});
  ReplayQuestion question = three_strategies();
  question.ranked = true;
  const ReplayAnswer answered = answer(inputs, open_devices(question.setup), question, {});
  EXPECT_EQ(answered.traces.at(0).planned.value().left_out_because,
            "it would take longer than all replays together");
}

TEST(ReplayAnswer, ThePlanIsOfWhatTheRecordedProgramGot) {
  ReplayQuestion question = three_strategies();
  question.ranked = true;
  const TraceRuns trace = answer_for("torch/gpt_train_oom.pickle", question, {}).traces.at(0);
  EXPECT_TRUE(trace.planned->optimal());
  EXPECT_EQ(trace.planned->height, trace.runs.at(0).metrics.peak_requested);
}

TEST(ReplayAnswer, StoppingAtAnOomIsNoInterruption) {
  ReplayQuestion question = three_strategies();
  question.setup.stop_at_oom = true;
  question.setup.capacity = 200 * kMiB;
  const ReplayAnswer answered = answer_for("torch/layers_4.pickle", question, {});
  for (const memreplay::Run& run : answered.traces.at(0).runs) {
    EXPECT_TRUE(run.stopped_at_oom);
    EXPECT_FALSE(run.finished);
    EXPECT_FALSE(run.interrupted());
  }
}

/// Under the settings of a release that takes the free block at the lower of two addresses.
memreplay::Run run_of_ties(AddressPolicy policy) {
  const Inputs inputs({.paths = {MEMREPLAY_TRACES "/torch/ties_by_address.pickle"}});
  const Recording& recording = inputs.recordings().front();
  const Subject subject(recording, recording.traces.front());
  const Setup setup;
  const Control control;
  const LateStart late(subject, replay_options(subject.trace(), setup, control));
  const OpenDevice device = simulated({SimulatedDeviceOptions{.policy = policy}});
  const StrategySpec spec = parse_strategy("torch:version=2.6.0,max_split_size_mb=32");
  return run(subject, spec, device, setup, late, nullptr, control);
}

TEST(ReplayAnswer, WhereATieWasDecidedByAGuessedAddressItIsAnEstimate) {
  const memreplay::Run upward = run_of_ties(AddressPolicy::upward);
  EXPECT_TRUE(upward.exact) << "as the recording's addresses grow";
  const memreplay::Run guessed = run_of_ties(AddressPolicy::cuda_linux);
  EXPECT_FALSE(guessed.exact);
  EXPECT_NE(guessed.inexact_because.find("takes the lowest address"), std::string::npos);
  ASSERT_TRUE(guessed.interval);
  const auto [low, high] = guessed.interval->peak_reserved;
  EXPECT_EQ(std::min(upward.metrics.peak_reserved, guessed.metrics.peak_reserved), low);
  EXPECT_EQ(std::max(upward.metrics.peak_reserved, guessed.metrics.peak_reserved), high);
  EXPECT_LT(low, high);
}

}  // namespace

}  // namespace memreplay

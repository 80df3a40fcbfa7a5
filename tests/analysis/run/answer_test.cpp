#include "analysis/run/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "analysis/run/devices.hpp"
#include "analysis/run/question.hpp"

namespace memreplay {
namespace {

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
  const ReplayAnswer answered = answer_for("torch/layers_4.pickle", three_strategies(),
                                           {.stop = &stop, .progress = stop_at_second});
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
  question.setup.device.capacity = 200 * kMiB;
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
  EXPECT_NE(guessed.inexact_because.find("lower of two addresses"), std::string::npos);
  ASSERT_TRUE(guessed.interval);
  const auto [low, high] = guessed.interval->peak_reserved;
  EXPECT_EQ(std::min(upward.metrics.peak_reserved, guessed.metrics.peak_reserved), low);
  EXPECT_EQ(std::max(upward.metrics.peak_reserved, guessed.metrics.peak_reserved), high);
  EXPECT_LT(low, high);
}

}  // namespace
}  // namespace memreplay

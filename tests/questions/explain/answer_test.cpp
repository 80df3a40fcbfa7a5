#include "questions/explain/answer.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "core/control.hpp"
#include "core/error.hpp"
#include "questions/explain/explained.hpp"
#include "run/inputs.hpp"
#include "run/question.hpp"

namespace memreplay {
namespace {

Inputs bundled(const std::string& name) {
  return Inputs({.paths = {std::string(MEMREPLAY_TRACES) + "/torch/" + name}});
}

TEST(ExplainAnswer, IsOfTheRecordedMemoryWhereItShowsThat) {
  const ExplainAnswer explained =
      answer(bundled("gpt_train_oom.pickle"), ExplainQuestion{.runs = 8}, {});
  ASSERT_EQ(explained.devices.size(), 1u);
  const ExplainedDevice& device = explained.devices.front();
  EXPECT_TRUE(device.strategy.empty());
  EXPECT_EQ(device.explanation.cause, Cause::fragmentation);
  ASSERT_TRUE(device.tuned);
  EXPECT_EQ(device.tuned->baseline_outcome.runs.at(0).metrics.ooms, 1u);
}

TEST(ExplainAnswer, IsOfAStrategyThatIsNamed) {
  const ExplainAnswer explained =
      answer(bundled("seq_growth.pickle"), ExplainQuestion{.strategy = parse_strategy("bfc")}, {});
  EXPECT_EQ(explained.devices.at(0).strategy, "bfc");
  EXPECT_FALSE(explained.devices[0].tuned);  // no setting of PyTorch's changes it
}

TEST(ExplainAnswer, OfAnEditedLateStartIsOfAReplay) {
  for (const char* edit :
       {"scale:stream=0,factor=2", "scale:stream=0,factor=1", "dtype:stream=0,from=fp32,to=bf16"}) {
    const Inputs inputs(
        {.paths = {std::string(MEMREPLAY_TRACES) + "/torch/warm_ring.pickle"}, .edits = {edit}});
    const ExplainAnswer explained = answer(inputs, ExplainQuestion{.runs = 8}, {});
    EXPECT_EQ(explained.devices.at(0).strategy, "recorded") << edit;
    EXPECT_GT(explained.devices[0].explanation.live_blocks, 0u) << edit;
  }
}

TEST(ExplainAnswer, WhatLiesBehindTheRecordingIsRefused) {
  const Inputs inputs = bundled("seq_growth.pickle");
  EXPECT_THROW(answer(inputs, ExplainQuestion{.at = {At::Kind::event, 1'000'000}}, {}), UsageError);
  EXPECT_THROW(answer(inputs, ExplainQuestion{.phases = {{"late", 0, 1'000'000, 0}}}, {}),
               UsageError);
}

// Says what it heard, in order.
class Heard {
 public:
  ExplainProgress progress() {
    return {.on_explained =
                [this](const ExplainedDevice& device) {
                  said += device.tuned ? "decided " : "explained ";
                },
            .on_searched =
                [this](const ExplainedDevice& device) {
                  said += device.tuned ? "searched " : "nothing ";
                }};
  }
  std::string said;
};

TEST(ExplainAnswer, IsToldBeforeTheSearch) {
  Heard heard;
  answer(bundled("layers_4.pickle"), ExplainQuestion{.runs = 8}, {}, heard.progress());
  EXPECT_EQ(heard.said, "explained searched ");
}

TEST(ExplainAnswer, ItsVerdictWaitsForNoSearch) {
  Heard heard;
  answer(bundled("gpt_train_oom.pickle"), ExplainQuestion{.runs = 8}, {}, heard.progress());
  EXPECT_EQ(heard.said, "explained searched ");
}

TEST(ExplainAnswer, OnASmallerDeviceItFailsWhereTheReplayDoes) {
  const Inputs inputs = bundled("warm_ring.pickle");
  ExplainQuestion question{.runs = 8};
  question.setup.capacity = 300 * kMiB;
  const ExplainAnswer explained = answer(inputs, question, {});
  ReplayQuestion replay{.setup = question.setup};
  const ReplayAnswer replayed = answer(inputs, open_devices(replay.setup), replay, {});
  ASSERT_TRUE(replayed.traces[0].runs[0].metrics.first_oom);
  EXPECT_TRUE(explained.devices[0].explanation.at_oom);
  EXPECT_EQ(explained.devices[0].explanation.event,
            replayed.traces[0].runs[0].metrics.first_oom->event);
}

TEST(ExplainAnswer, OnAnEndlessDeviceARecordedOomDoesNotHappen) {
  ExplainQuestion question{.runs = 8};
  question.setup.endless = true;
  const ExplainAnswer explained = answer(bundled("gpt_train_oom.pickle"), question, {});
  EXPECT_EQ(explained.devices[0].explanation.cause, Cause::none);
  EXPECT_FALSE(explained.devices[0].device.capacity);
}

TEST(ExplainAnswer, RetriesOfTheRecordingAreCounted) {
  const ExplainAnswer explained =
      answer(bundled("seq_growth.pickle"), ExplainQuestion{.runs = 8}, {});
  EXPECT_GT(explained.devices[0].explanation.retries, 0u);
  EXPECT_EQ(explained.devices[0].explanation.retries,
            explained.devices[0].tuned->baseline_outcome.runs[0].metrics.oom_retries);
}

TEST(ExplainAnswer, WhereAFailureLeavesNoEntryNobodyKnows) {
  Recording recording = read_recording(std::string(MEMREPLAY_TRACES) + "/torch/layers_4.pickle");
  recording.settings.conf = "throw_on_cudamalloc_oom:True";
  const Chosen chosen{&recording, &recording.traces[0]};
  const ExplainedDevice device = explained(chosen, chosen.subject({}), {.runs = 8}, {});
  EXPECT_TRUE(device.untold);
  EXPECT_EQ(device.explanation.cause, Cause::unknown);
}

TEST(ExplainAnswer, StoppedBeforeTheSearchItKeepsWhatIsKnown) {
  std::atomic<bool> stop = false;
  bool tuned = false;
  const ExplainProgress stopping{
      .on_explained = [&](const ExplainedDevice&) { stop = true; },
      .on_searched = [&](const ExplainedDevice& device) { tuned = device.tuned.has_value(); }};
  const ExplainAnswer explained =
      answer(bundled("layers_4.pickle"), ExplainQuestion{.runs = 8}, {.stop = &stop}, stopping);
  EXPECT_EQ(explained.devices.size(), 1u);
  EXPECT_FALSE(tuned);
  EXPECT_TRUE(explained.interrupted);
}

TEST(ExplainAnswer, OtherCommandsAreToLookAtTheSameDevice) {
  ExplainQuestion question{.runs = 8};
  question.setup.capacity = 5000 * kMiB;
  question.setup.reserve = 8 * kMiB;
  const ExplainAnswer explained = answer(bundled("gpt_train_oom.pickle"), question, {});
  EXPECT_EQ(explained.devices[0].options, " --capacity 5000MiB --reserve 8MiB");
}

TEST(ExplainAnswer, StoppedAtOnceItHasNoDevice) {
  const std::atomic<bool> stop = true;
  const ExplainAnswer explained =
      answer(bundled("seq_growth.pickle"), ExplainQuestion{}, {.stop = &stop});
  EXPECT_TRUE(explained.devices.empty());
  EXPECT_TRUE(explained.interrupted);
}

}  // namespace
}  // namespace memreplay

#include "analysis/explain/answer.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "analysis/explain/question.hpp"
#include "analysis/recorded/inputs.hpp"
#include "core/control.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

Inputs bundled(const std::string& name) {
  return Inputs({.paths = {std::string(MEMREPLAY_TRACES) + "/torch/" + name}});
}

TEST(ExplainAnswer, IsOfTheRecordedMemoryWhereItShowsThat) {
  const ExplainAnswer explained = answer(bundled("gpt_train_oom.pickle"), {.most_settings = 8}, {});
  ASSERT_EQ(explained.devices.size(), 1u);
  const ExplainedDevice& device = explained.devices.front();
  EXPECT_TRUE(device.strategy.empty());
  EXPECT_EQ(device.explanation.cause, Cause::fragmentation);
  ASSERT_TRUE(device.tuned);
  EXPECT_EQ(device.tuned->baseline_outcome.runs.at(0).metrics.ooms, 1u);
}

TEST(ExplainAnswer, IsOfAStrategyThatIsNamed) {
  const ExplainAnswer explained =
      answer(bundled("seq_growth.pickle"), {.strategy = parse_strategy("bfc")}, {});
  EXPECT_EQ(explained.devices.at(0).strategy, "bfc");
  EXPECT_FALSE(explained.devices[0].tuned);  // no setting of PyTorch's changes it
}

TEST(ExplainAnswer, WhatLiesBehindTheRecordingIsRefused) {
  const Inputs inputs = bundled("seq_growth.pickle");
  EXPECT_THROW(answer(inputs, {.at = 1'000'000}, {}), UsageError);
  EXPECT_THROW(answer(inputs, {.phases = {{"late", 0, 1'000'000, 0}}}, {}), UsageError);
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

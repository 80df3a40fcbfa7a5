#include "extensions/stress/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"

namespace memreplay {
namespace {

StressAnswer answer_for(const std::string& trace, StressQuestion question) {
  if (!question.orders) question.orders = 60;
  return answer(Inputs({.paths = {MEMREPLAY_TRACES "/" + trace}}), question, {});
}

const StressRun& only_run(const StressAnswer& answered) {
  return answered.devices.at(0).runs.at(0);
}

TEST(StressAnswer, TheRecordedOrderTakenApartReservesWhatWasRecorded) {
  for (const char* trace : {"torch/seq_growth.pickle", "torch/gpt_train_oom.pickle",
                            "torch/layers_4.pickle", "torch/warm_ring.pickle"}) {
    const StressAnswer answered = answer_for(trace, {.orders = 1});
    if (!answered.devices.at(0).has_orders()) continue;
    EXPECT_EQ(only_run(answered).recorded_order, only_run(answered).recorded.metrics.peak_reserved)
        << trace;
  }
}

TEST(StressAnswer, TheMarginHoldsTheLargestOfFewOrders) {
  const StressAnswer answered = answer_for("torch/seq_growth.pickle", {});
  const StressRun& run = only_run(answered);
  ASSERT_TRUE(run.margin);
  EXPECT_EQ(run.margin->peak_reserved, run.reserved.most);
  EXPECT_EQ(run.margin->over_recorded,
            static_cast<std::int64_t>(run.reserved.most) -
                static_cast<std::int64_t>(run.recorded.metrics.peak_reserved));
  EXPECT_LT(run.margin->confidence, 0.1);
}

TEST(StressAnswer, OrdersThatRunOutOfMemoryAreCountedAndLeaveNoMargin) {
  StressQuestion question;
  question.setup.capacity = Bytes{300} << 20;
  const StressAnswer answered = answer_for("torch/seq_growth.pickle", question);
  EXPECT_GT(only_run(answered).orders_with_oom, 0u);
  EXPECT_FALSE(only_run(answered).margin);
}

TEST(StressAnswer, EveryStrategyMeetsTheSameOrders) {
  const StressAnswer answered = answer_for(
      "torch/seq_growth.pickle", {.strategies = {parse_strategy("torch"), parse_strategy("bfc")}});
  const StressedDevice& device = answered.devices.at(0);
  ASSERT_EQ(device.runs.size(), 2u);
  EXPECT_EQ(device.runs[0].live.most, device.runs[1].live.most);
  EXPECT_EQ(device.runs[0].live.median, device.runs[1].live.median);
}

TEST(StressAnswer, WithoutTwoStepsThereIsNoOtherOrder) {
  const StressAnswer answered = answer_for("torch/seq_growth.pickle", {.step_events = 1'000'000});
  EXPECT_TRUE(answered.nothing_to_order());
  EXPECT_TRUE(answered.devices.at(0).runs.empty());
}

TEST(StressAnswer, StoppedItSaysThatThereWouldHaveBeenMore) {
  const std::atomic<bool> stop{true};
  const Inputs inputs({.paths = {MEMREPLAY_TRACES "/torch/seq_growth.pickle"}});
  EXPECT_TRUE(answer(inputs, {}, {.stop = &stop}).interrupted);
}

}  // namespace
}  // namespace memreplay

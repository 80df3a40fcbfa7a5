#include "run/devices.hpp"

#include <gtest/gtest.h>

#include "run/inputs.hpp"
#include "run/question.hpp"

namespace memreplay {
namespace {

const InputOptions kOom{.paths = {MEMREPLAY_TRACES "/torch/gpt_train_oom.pickle"}};

SizedDevice sized(const char* name, const Setup& setup) {
  const Inputs inputs({.paths = {std::string(MEMREPLAY_TRACES) + "/torch/" + name}});
  return sized_for(inputs.chosen().front().subject({}), setup);
}

TEST(SizedDevice, IsThatOfTheRecordedFailure) {
  const SizedDevice device = sized("gpt_train_oom.pickle", {.reserve = 100 * kMiB});
  EXPECT_EQ(device.options.room(), 5226 * kMiB);
  EXPECT_EQ(device.options.capacity, 5326 * kMiB);
  EXPECT_EQ(device.from, CapacityFrom::recorded_oom);
}

TEST(SizedDevice, IsTheLeastOnWhichRecordedRetriesHappen) {
  const SizedDevice device = sized("seq_growth.pickle", {});
  EXPECT_EQ(device.options.capacity, 3992 * kMiB);
  EXPECT_EQ(device.from, CapacityFrom::recorded_retries);
}

TEST(SizedDevice, IsAsAskedForWhatWasRecorded) {
  EXPECT_EQ(sized("gpt_train_oom.pickle", {.capacity = kMiB}).options.capacity, kMiB);
  EXPECT_EQ(sized("gpt_train_oom.pickle", {.capacity = kMiB}).from, CapacityFrom::option);
  EXPECT_FALSE(sized("gpt_train_oom.pickle", {.endless = true}).options.capacity);
  EXPECT_FALSE(sized("graph_pool.pickle", {}).options.capacity);
}

TEST(ReplayAnswer, ARecordedFailureHappensAgainUnlessItsDeviceIsLifted) {
  const Inputs inputs(kOom);
  ReplayQuestion question{.strategies = {parse_strategy("recorded")}};
  const auto replayed = [&] {
    return answer(inputs, open_devices(question.setup), question, {}).traces.at(0);
  };
  EXPECT_EQ(replayed().runs.at(0).metrics.ooms, 1u);
  EXPECT_EQ(replayed().device.capacity, 5226 * kMiB);
  question.setup.endless = true;
  EXPECT_EQ(replayed().runs.at(0).metrics.ooms, 0u);
  EXPECT_EQ(replayed().device.capacity, std::nullopt);
}

TEST(ReplayAnswer, OnADeviceOfGuessedSizeOnlyTheRecordedSettingsAreExact) {
  const Inputs inputs({.paths = {MEMREPLAY_TRACES "/torch/seq_growth.pickle"}});
  const ReplayQuestion question{
      .strategies = {parse_strategy("recorded"), parse_strategy("torch:large_segment_size_mb=64")}};
  const TraceRuns runs = answer(inputs, open_devices(question.setup), question, {}).traces.at(0);
  EXPECT_TRUE(runs.runs.at(0).exact);
  ASSERT_GT(runs.runs.at(1).metrics.oom_retries, 0u);
  EXPECT_FALSE(runs.runs.at(1).exact);
}

}  // namespace
}  // namespace memreplay

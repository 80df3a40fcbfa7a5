#include "questions/fit/answer.hpp"

#include <gtest/gtest.h>

#include "questions/fit/fit.hpp"

namespace memreplay {
namespace {

FitAnswer answer_for(const std::string& trace, const FitQuestion& question) {
  return answer(Inputs({.paths = {MEMREPLAY_TRACES "/" + trace}}), question, {});
}

TEST(FitAnswer, NamesTheCardsThatSufficeForTheBest) {
  const FitAnswer answered = answer_for(
      "torch/layers_4.pickle", {.strategies = {parse_strategy("torch"), parse_strategy("direct")}});
  ASSERT_EQ(answered.devices.size(), 1u);
  const FittedDevice& device = answered.devices[0];
  ASSERT_EQ(device.runs.size(), 2u);
  EXPECT_TRUE(answered.all_fit());
  EXPECT_EQ(device.runs[1].there.strategy, "direct");
  ASSERT_TRUE(device.cards);
  EXPECT_GT(device.cards->front().set_aside.most, kContext);
  EXPECT_EQ(device.cards->size(), 3u);
}

TEST(FitAnswer, ACardIsTheDeviceAndItsContextAndLibrariesAreReserved) {
  const FitAnswer answered = answer_for("torch/layers_4.pickle", {.cards = {card_named("T4")}});
  const FittedDevice& device = answered.devices.at(0);
  EXPECT_EQ(device.device.capacity, card_named("T4").card.total);
  EXPECT_EQ(device.device.name, "T4");
  EXPECT_GE(device.reserve, kContext + use_of(CardLibrary::kernels).usual);
  EXPECT_EQ(device.set_aside->bytes(), device.reserve);
  EXPECT_EQ(device.device.set_aside->context, kContext);
  EXPECT_FALSE(device.cards);
  EXPECT_TRUE(device.runs.at(0).fit.given->fits);
}

TEST(FitAnswer, WhoSaysWhatOthersHoldHasThatAlone) {
  FitQuestion question{.cards = {card_named("T4")}};
  question.setup.reserve = kMiB;
  const FitAnswer answered = answer_for("torch/layers_4.pickle", question);
  EXPECT_EQ(answered.devices.at(0).set_aside->bytes(), kMiB);
  EXPECT_EQ(answered.devices.at(0).set_aside->context, 0u);
}

// What others held on the recorded device says nothing of cards.
TEST(FitAnswer, SeveralCardsAreAskedAboutInPlaceOfTheRecordedDevice) {
  const FitQuestion question{.cards = {card_named("T4"), card_named("a100")}};
  const FitAnswer answered = answer_for("torch/gpt_train_oom.pickle", question);
  EXPECT_FALSE(answered.devices.at(0).device.capacity);
}

TEST(FitAnswer, OfSeveralCardsEachIsTried) {
  const FitQuestion question{
      .strategies = {parse_strategy("torch"), parse_strategy("bump:size=64MiB")},
      .cards = {card_named("T4"), card_named("a100")}};
  const FitAnswer answered = answer_for("torch/layers_4.pickle", question);
  const FittedDevice& device = answered.devices.at(0);
  EXPECT_FALSE(device.device.capacity);
  EXPECT_EQ(device.set_aside->bytes(), device.reserve);
  ASSERT_EQ(device.asked_cards.size(), 2u);
  EXPECT_EQ(device.asked_cards[1].card.name, "A100-80GB");
  for (const FittedCard& on : device.asked_cards) {
    ASSERT_EQ(on.runs.size(), 2u);
    EXPECT_TRUE(on.runs[0]->fits);
    EXPECT_FALSE(on.runs[1]->fits);
  }
  EXPECT_FALSE(answered.all_fit());
  EXPECT_EQ(answered.cards.at(1).others, (std::vector<std::string_view>{"A100-40GB"}));
}

TEST(FitAnswer, OfARecordingThatStartsLateItIsAnEstimate) {
  const FitAnswer answered = answer_for("torch/warm_ring.pickle", {});
  EXPECT_FALSE(answered.devices.at(0).runs.at(0).there.exact);
}

TEST(FitAnswer, AsMuchAsWasRecordedSufficesForALateRecording) {
  const FitAnswer answered = answer_for("torch/warm_ring.pickle", {});
  const FitRun& run = answered.devices.at(0).runs.at(0);
  EXPECT_LE(run.fit.smallest, 490 * kMiB);
  ASSERT_TRUE(run.interval);
  EXPECT_EQ(run.interval->high, 490 * kMiB);
  EXPECT_LE(run.interval->low, run.fit.smallest);
  EXPECT_GE(run.interval->low, run.there.metrics.peak_asked);
  const FitAnswer given = answer_for("torch/warm_ring.pickle", {.setup = {.capacity = 490 * kMiB}});
  EXPECT_TRUE(given.devices.at(0).runs.at(0).fit.given->fits);
}

TEST(FitAnswer, ARecordingFromTheStartHasNoInterval) {
  EXPECT_FALSE(answer_for("torch/layers_4.pickle", {}).devices.at(0).runs.at(0).interval);
}

TEST(FitAnswer, StoppedItSaysThatThereWouldHaveBeenMore) {
  const std::atomic<bool> stop = true;
  const Inputs inputs({.paths = {MEMREPLAY_TRACES "/torch/layers_4.pickle"}});
  const FitAnswer answered = answer(inputs, {}, {.stop = &stop});
  EXPECT_TRUE(answered.interrupted);
  EXPECT_TRUE(answered.devices.empty());
}

}  // namespace
}  // namespace memreplay

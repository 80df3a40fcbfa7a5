#include "analysis/fit/answer.hpp"

#include <gtest/gtest.h>

#include "analysis/fit/cards.hpp"
#include "analysis/fit/question.hpp"

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
  EXPECT_EQ(device.held_on_cards, kContext);
  ASSERT_TRUE(device.cards);
  EXPECT_EQ(device.cards->size(), 3u);
}

TEST(FitAnswer, ACardIsTheDeviceAndItsContextIsReserved) {
  const FitAnswer answered = answer_for("torch/layers_4.pickle", {.card = card_named("T4")});
  const FittedDevice& device = answered.devices.at(0);
  EXPECT_EQ(device.device.capacity, card_named("T4").total);
  EXPECT_EQ(device.device.name, "T4");
  EXPECT_EQ(device.reserve, kContext);
  EXPECT_TRUE(device.context_assumed);
  EXPECT_FALSE(device.cards);
  EXPECT_TRUE(device.runs.at(0).fits());
}

TEST(FitAnswer, OfARecordingThatStartsLateItIsAnEstimate) {
  const FitAnswer answered = answer_for("torch/warm_ring.pickle", {});
  EXPECT_FALSE(answered.devices.at(0).runs.at(0).there.exact);
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

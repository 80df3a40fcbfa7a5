#include "analysis/suggest/answer.hpp"

#include <gtest/gtest.h>

#include "analysis/recorded/inputs.hpp"
#include "analysis/suggest/question.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

SuggestAnswer suggested(const SuggestQuestion& question,
                        const std::string& trace = "torch/layers_4.pickle") {
  return answer(Inputs({.paths = {MEMREPLAY_TRACES "/" + trace}}), question, {});
}

TEST(Suggest, WhatFitsAsItIsNeedsNoEdit) {
  const SuggestAnswer answered = suggested({.budget = 1024 * kMiB});
  const Suggestion* best = answered.devices.at(0).best();
  ASSERT_NE(best, nullptr);
  EXPECT_TRUE(best->edits.empty());
  EXPECT_EQ(best->price(), 0u);
  EXPECT_TRUE(answered.all_fit());
}

TEST(Suggest, StoppedBeforeAnythingIsTriedItSuggestsNothing) {
  std::atomic<bool> stop = false;
  const Control control{.stop = &stop, .progress = [&](auto&&...) { stop = true; }};
  const SuggestAnswer answered =
      answer(Inputs({.paths = {MEMREPLAY_TRACES "/torch/layers_4.pickle"}}), {.budget = 390 * kMiB},
             control);
  EXPECT_TRUE(answered.interrupted);
  EXPECT_TRUE(answered.devices.at(0).suggestions.empty());
}

TEST(Suggest, TheCheapestThatFitsComesFirst) {
  const SuggestAnswer answered = suggested({.budget = 390 * kMiB});
  const std::vector<Suggestion>& all = answered.devices.at(0).suggestions;
  ASSERT_TRUE(all.front().fits);
  EXPECT_FALSE(all.front().edits.empty());
  for (const Suggestion& other : all) {
    if (!other.fits) continue;
    EXPECT_LE(all.front().price(), other.price());
  }
}

TEST(Suggest, WhatFitsStaysWithinTheBudget) {
  const SuggestAnswer answered = suggested({.budget = 390 * kMiB});
  for (const Suggestion& s : answered.devices.at(0).suggestions) {
    if (!s.fits) continue;
    EXPECT_LE(s.peak_reserved, 390 * kMiB);
  }
}

TEST(Suggest, WhereNothingFitsTheAnswerIsNo) {
  const SuggestAnswer answered = suggested({.budget = 100 * kMiB});
  EXPECT_EQ(answered.devices.at(0).best(), nullptr);
  EXPECT_FALSE(answered.all_fit());
}

TEST(Suggest, OnlyWhatIsAllowedIsTried) {
  const SuggestAnswer computed = suggested({.budget = 390 * kMiB, .offload = false});
  for (const Suggestion& s : computed.devices.at(0).suggestions) EXPECT_EQ(s.moved, 0u);
  const SuggestAnswer moved = suggested({.budget = 390 * kMiB, .checkpoint = false});
  for (const Suggestion& s : moved.devices.at(0).suggestions) EXPECT_EQ(s.recomputed, 0u);
}

TEST(Suggest, TheRecordedFailureIsTheBudget) {
  const SuggestAnswer answered = suggested({}, "torch/gpt_train_oom.pickle");
  EXPECT_EQ(answered.devices.at(0).device.capacity_from, CapacityFrom::recorded_oom);
}

TEST(Suggest, WithoutABudgetNothingCanBeSaid) { EXPECT_THROW(suggested({}), UsageError); }

}  // namespace
}  // namespace memreplay

#include "analysis/check/answer.hpp"

#include <gtest/gtest.h>

#include "analysis/check/question.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

Inputs inputs_of(const std::string& trace) {
  return Inputs({.paths = {MEMREPLAY_TRACES "/torch/" + trace}});
}

TEST(CheckAnswer, WhatAnUpdateWroteIsPassedUntilSomethingGrows) {
  const Inputs inputs = inputs_of("layers_4.pickle");
  const UpdateAnswer made = answer_update(inputs, {}, {.strategies = {"direct"}}, {});
  ASSERT_EQ(made.entries.size(), 1u);
  EXPECT_EQ(made.entries[0].kind, EntryUpdate::Kind::fresh);
  EXPECT_TRUE(answer(inputs, made.renewed, {}, {}).passed());
  EXPECT_EQ(answer_update(inputs, made.renewed, {}, {}).entries[0].kind, EntryUpdate::Kind::same);

  Baseline lower = made.renewed;
  lower.entries[0].metrics.at("peak_reserved_bytes") = {.value = 0};
  EXPECT_FALSE(answer(inputs, lower, {}, {}).passed());
}

TEST(CheckAnswer, NamesWhatElseTheBaselineHas) {
  const Inputs inputs = inputs_of("layers_4.pickle");
  const UpdateAnswer made = answer_update(inputs, {}, {.strategies = {"direct", "torch"}}, {});
  const CheckAnswer answered = answer(inputs, made.renewed, {.strategies = {"torch"}}, {});
  ASSERT_EQ(answered.not_checked.size(), 1u);
  EXPECT_EQ(answered.not_checked[0].setup.strategy, "direct");
}

TEST(CheckAnswer, ARecordingWithoutAnEntryIsRefused) {
  EXPECT_THROW(answer(inputs_of("layers_4.pickle"), {}, {.baseline = "memory.json"}, {}),
               InputError);
}

TEST(CheckAnswer, StoppedItDidNotPass) {
  const std::atomic<bool> stop = true;
  const Inputs inputs = inputs_of("layers_4.pickle");
  const Baseline baseline = answer_update(inputs, {}, {}, {}).renewed;
  const CheckAnswer answered = answer(inputs, baseline, {}, {.stop = &stop});
  EXPECT_TRUE(answered.interrupted);
  EXPECT_FALSE(answered.passed());
}

}  // namespace
}  // namespace memreplay

#include "questions/check/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>

#include "questions/check/tolerance.hpp"

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

TEST(CheckAnswer, AnUpdateThatIsMadeAgainReplaysNothingAgain) {
  const Inputs inputs = inputs_of("layers_4.pickle");
  const UpdateAnswer made = answer_update(inputs, {}, {}, {});
  Baseline changed;
  changed.add({.trace = "other.csv"});
  const std::atomic<bool> stop = true;
  const UpdateAnswer again = answer_update(inputs, changed, {}, {.stop = &stop}, made);
  EXPECT_FALSE(again.interrupted);
  ASSERT_EQ(again.renewed.entries.size(), 2u);
  EXPECT_EQ(std::ranges::count(again.renewed.entries, made.renewed.entries[0]), 1);
  EXPECT_EQ(std::ranges::count(again.renewed.entries, changed.entries[0]), 1);
  EXPECT_TRUE(answer_update(inputs, changed, {}, {.stop = &stop}).interrupted);
}

TEST(CheckAnswer, NamesWhatElseTheBaselineHas) {
  const Inputs inputs = inputs_of("layers_4.pickle");
  const UpdateAnswer made = answer_update(inputs, {}, {.strategies = {"direct", "torch"}}, {});
  const CheckAnswer answered = answer(inputs, made.renewed, {.strategies = {"torch"}}, {});
  ASSERT_EQ(answered.not_checked.size(), 1u);
  EXPECT_EQ(answered.not_checked[0].setup.strategy, "direct");
}

TEST(CheckAnswer, WhatCannotBeCheckedHidesNoOther) {
  const std::string folder = MEMREPLAY_TRACES "/torch/";
  const Baseline baseline = answer_update(inputs_of("layers_4.pickle"), {}, {}, {}).renewed;
  const Inputs inputs(
      {.paths = {folder + "none.pickle", folder + "layers_4.pickle", folder + "layers_5.pickle"}},
      OnUnreadable::go_on);
  const CheckAnswer answered = answer(inputs, baseline, {.baseline = "memory.json"}, {});
  ASSERT_EQ(answered.entries.size(), 1u);
  EXPECT_TRUE(answered.entries[0].passed());
  EXPECT_FALSE(answered.passed());
  ASSERT_EQ(answered.failed.size(), 2u);
  EXPECT_EQ(answered.failed[0].path, folder + "none.pickle");
  EXPECT_EQ(answered.failed[1].path, folder + "layers_5.pickle");
  EXPECT_TRUE(answered.failed[1].message.starts_with("memory.json: has no entry for "));
}

const BaselineMetric& metric_of(const UpdateAnswer& answer, const char* name) {
  return answer.renewed.entries.at(0).metrics.at(name);
}

TEST(CheckAnswer, AToleranceThatIsGivenCountsForEntriesThatAreThere) {
  const Inputs inputs = inputs_of("layers_4.pickle");
  Baseline baseline = answer_update(inputs, {}, {}, {}).renewed;
  baseline.entries[0].metrics["ooms"].tolerance = *parse_tolerance("1");
  const UpdateAnswer share =
      answer_update(inputs, baseline, {.tolerance = parse_tolerance("30%")}, {});
  EXPECT_EQ(metric_of(share, "peak_reserved_bytes").tolerance.text, "30%");
  EXPECT_EQ(metric_of(share, "ooms").tolerance.text, "30%");
  const UpdateAnswer size =
      answer_update(inputs, baseline, {.tolerance = parse_tolerance("64MiB")}, {});
  EXPECT_EQ(metric_of(size, "peak_reserved_bytes").tolerance.text, "64MiB");
  EXPECT_EQ(metric_of(size, "ooms").tolerance.text, "1");
  EXPECT_EQ(metric_of(answer_update(inputs, share.renewed, {}, {}), "ooms").tolerance.text, "30%");
}

TEST(CheckAnswer, WhatWasThereBeforeIsCountedUnlessTheEntrySaysOtherwise) {
  const Inputs inputs = inputs_of("warm_ring.pickle");
  const UpdateAnswer made = answer_update(inputs, {}, {}, {});
  EXPECT_EQ(made.renewed.entries[0].from_before, FromBefore::counted);
  const UpdateAnswer cold =
      answer_update(inputs, made.renewed, {.from_before = FromBefore::left_out}, {});
  EXPECT_EQ(cold.renewed.entries[0].from_before, FromBefore::left_out);
  EXPECT_LT(metric_of(cold, "peak_reserved_bytes").value,
            metric_of(made, "peak_reserved_bytes").value);
  EXPECT_EQ(answer_update(inputs, cold.renewed, {}, {}).entries[0].kind, EntryUpdate::Kind::same);
}

TEST(CheckAnswer, AnOlderBaselineIsCheckedByItsOwnRuleUntilItIsRenewed) {
  const Inputs inputs = inputs_of("warm_ring.pickle");
  Baseline older = answer_update(inputs, {}, {.from_before = FromBefore::left_out}, {}).renewed;
  older.entries[0].from_before = FromBefore::unsaid;
  const CheckAnswer answered = answer(inputs, older, {}, {});
  EXPECT_TRUE(answered.passed());
  EXPECT_TRUE(answered.entries[0].with_start);
  EXPECT_EQ(answer_update(inputs, older, {}, {}).renewed.entries[0].from_before,
            FromBefore::counted);
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

#include "extensions/what_if/suggest/answer.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "run/question.hpp"
#include "support/programs.hpp"
#include "trace/snapshot_copies.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

SuggestAnswer suggested(const SuggestQuestion& question,
                        const std::string& trace = "torch/layers_4.pickle") {
  return answer(Inputs({.paths = {MEMREPLAY_TRACES "/" + trace}}), question, {});
}

bool is_usual(const Suggestion& s) {
  return s.strategy == "recorded" || s.strategy == "torch:expandable_segments=True";
}

/// As `replay --edit … -s … --capacity …` does it.
Run replayed(const std::string& trace, const Suggestion& s, Bytes capacity) {
  InputOptions input{.paths = {MEMREPLAY_TRACES "/" + trace}};
  for (const SuggestedEdit& edit : s.edits) input.edits.push_back(edit.text);
  ReplayQuestion question{.strategies = {parse_strategy(s.strategy)}};
  question.setup.capacity = capacity;
  const auto devices = open_devices(question.setup);
  return answer(Inputs(input), devices, question, {}).traces.at(0).runs.at(0);
}

void expect_that_what_fits_runs(const std::string& trace, Bytes budget) {
  std::size_t searched = 0;
  const SuggestAnswer answered = suggested({.budget = budget}, trace);
  for (const Suggestion& s : answered.devices.at(0).suggestions) {
    if (!s.serves) continue;
    searched += is_usual(s) ? 0 : 1;
    const Run run = replayed(trace, s, budget);
    EXPECT_EQ(run.metrics.ooms, 0u) << s.strategy << (s.edits.empty() ? "" : s.edits.front().text);
    EXPECT_LE(run.metrics.peak_reserved, budget);
  }
  EXPECT_EQ(searched, 1u);
}

TEST(Suggest, WhatFitsAsItIsNeedsNoEdit) {
  const SuggestAnswer answered = suggested({.budget = 1024 * kMiB});
  const Suggestion* best = answered.devices.at(0).best();
  ASSERT_NE(best, nullptr);
  EXPECT_TRUE(best->edits.empty());
  EXPECT_EQ(best->price(), 0u);
  EXPECT_TRUE(answered.all_fit());
}

TEST(Suggest, WhatFitsUnderASettingOfManyNeedsNoEdit) {
  const SuggestAnswer answered = suggested({.budget = 390 * kMiB});
  const Suggestion* best = answered.devices.at(0).best();
  ASSERT_NE(best, nullptr);
  EXPECT_TRUE(best->edits.empty());
  EXPECT_EQ(best->strategy, "torch:large_segment_size_mb=32");
  EXPECT_EQ(best->conf, "large_segment_size_mb:32");
  EXPECT_LE(best->peak_reserved, 390 * kMiB);
  EXPECT_EQ(answered.devices.at(0).settings.programs, 1u);
  EXPECT_EQ(answered.devices.at(0).settings.variable, "PYTORCH_CUDA_ALLOC_CONF");
}

TEST(Suggest, ASettingOfManyMakesACheaperEditDo) {
  const SuggestAnswer answered = suggested({.budget = 452 * kMiB}, "torch/layers_5.pickle");
  const std::vector<Suggestion>& all = answered.devices.at(0).suggestions;
  ASSERT_EQ(all.front().fits, true);
  EXPECT_FALSE(all.front().edits.empty());
  EXPECT_FALSE(is_usual(all.front()));
  bool usual = false;
  for (const Suggestion& other : all) {
    if (!other.serves || !is_usual(other)) continue;
    usual = true;
    EXPECT_LT(all.front().price(), other.price());
  }
  EXPECT_TRUE(usual);
}

TEST(Suggest, WhatFitsUnderASettingOfManyRunsThere) {
  expect_that_what_fits_runs("torch/layers_4.pickle", 390 * kMiB);
  expect_that_what_fits_runs("torch/layers_5.pickle", 452 * kMiB);
}

/// Six layers of a first step that ends in its forward pass: segments of 20 MiB hold three blocks.
std::string died_in_first_step() {
  constexpr Bytes kBlock = 6 * kMiB;
  ProgramWriter program;
  for (int layer = 0; layer < 6; ++layer) {
    for (const int line : {11, 12}) program.at(layer_line(line)).ask(kBlock);
  }
  program.backward().die(1);
  std::ostringstream out;
  writer_named("mrt").write(program.recording(), out);
  return out.str();
}

TEST(Suggest, AFirstStepThatIsNotWholeHasSettingsSearchedOnlyWhereNothingFits) {
  const TemporaryFile file(died_in_first_step(), ".mrt");
  const Inputs inputs({.paths = {file.path()}});
  const SuggestAnswer some = answer(inputs, {.budget = 78 * kMiB}, {});
  ASSERT_EQ(some.devices.at(0).rest, RestOfStep::unknown);
  ASSERT_TRUE(some.devices.at(0).suggestions.front().serves);
  EXPECT_FALSE(some.devices.at(0).suggestions.front().edits.empty());
  EXPECT_EQ(some.devices.at(0).settings.tried, 0u);
  const SuggestAnswer none =
      answer(inputs, {.budget = 78 * kMiB, .checkpoint = false, .offload = false}, {});
  ASSERT_TRUE(none.devices.at(0).suggestions.front().serves);
  EXPECT_TRUE(none.devices.at(0).suggestions.front().edits.empty());
  EXPECT_GT(none.devices.at(0).settings.tried, 0u);
}

TEST(Suggest, OfAFirstStepThatIsNotWholeNothingIsKnownToFit) {
  const TemporaryFile file(died_in_first_step(), ".mrt");
  const SuggestAnswer answered =
      answer(Inputs({.paths = {file.path()}}), {.budget = 1024 * kMiB}, {});
  EXPECT_FALSE(answered.all_fit());
  EXPECT_EQ(answered.devices.at(0).best(), nullptr);
  for (const Suggestion& s : answered.devices.at(0).suggestions) {
    EXPECT_TRUE(s.serves);
    EXPECT_FALSE(s.fits.has_value());
    EXPECT_TRUE(s.at_least);
  }
}

TEST(Suggest, WhatWasRecordedOfAFirstStepMayBeTooMuch) {
  const TemporaryFile file(died_in_first_step(), ".mrt");
  const SuggestAnswer answered =
      answer(Inputs({.paths = {file.path()}}), {.budget = 10 * kMiB}, {});
  for (const Suggestion& s : answered.devices.at(0).suggestions) EXPECT_EQ(s.fits, false);
}

/// Two steps of layers that save blocks; the second ends in its last layer. `grown`: by so much
/// more for each block than the first.
std::string died_in_second_step(Bytes grown) {
  constexpr Bytes kBlock = 6 * kMiB;
  ProgramWriter program;
  const auto forward = [&](Bytes more, int layers) {
    for (int layer = 0; layer < layers; ++layer) {
      for (const int line : {11, 12}) {
        program.at(layer_line(line)).ask(kBlock + static_cast<Bytes>(2 * layer + line) + more);
      }
    }
  };
  forward(0, 9);
  program.backward();
  for (int layer = 9; layer-- > 0;) {
    for (const int line : {12, 11}) {
      program.free(kBlock + static_cast<Bytes>(2 * layer + line));
      program.ask(100 + static_cast<Bytes>(2 * layer + line));
    }
  }
  program.at({"/lib/torch/optim/sgd.py:9 step", "train.py:8 step"}).ask(50).free(50);
  for (int layer = 9; layer-- > 0;) {
    for (const int line : {12, 11}) program.free(100 + static_cast<Bytes>(2 * layer + line));
  }
  forward(grown, 8);
  program.at(layer_line(11)).ask(kBlock + 27 + grown);
  program.at(layer_line(12)).die(kBlock + 28 + grown);
  std::ostringstream out;
  writer_named("mrt").write(program.recording(), out);
  return out.str();
}

TEST(Suggest, AStepLikeTheOneBeforeIsTakenForWhole) {
  const TemporaryFile file(died_in_second_step(0), ".mrt");
  const SuggestAnswer answered =
      answer(Inputs({.paths = {file.path()}}), {.budget = 1024 * kMiB}, {});
  EXPECT_NE(answered.devices.at(0).rest, RestOfStep::unknown);
  EXPECT_TRUE(answered.all_fit());
}

TEST(Suggest, ALaterStepOfOtherSizesIsUnknownThoughAWholeOneCameBefore) {
  const TemporaryFile file(died_in_second_step(kMiB), ".mrt");
  const SuggestAnswer answered =
      answer(Inputs({.paths = {file.path()}}), {.budget = 1024 * kMiB}, {});
  EXPECT_EQ(answered.devices.at(0).rest, RestOfStep::unknown);
  EXPECT_FALSE(answered.all_fit());
}

TEST(Suggest, WhereAStrategyIsNamedNoOtherIsTried) {
  const SuggestAnswer answered =
      suggested({.budget = 390 * kMiB, .strategies = {parse_strategy("recorded")}});
  EXPECT_EQ(answered.devices.at(0).settings.tried, 0u);
  for (const Suggestion& s : answered.devices.at(0).suggestions) EXPECT_EQ(s.strategy, "recorded");
}

TEST(Suggest, WhatRequestsMoreThanTheBudgetHasNoSettingToSearch) {
  EXPECT_EQ(suggested({.budget = 300 * kMiB}).devices.at(0).settings.tried, 0u);
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
  const SuggestAnswer answered = suggested({.budget = 384 * kMiB});
  const std::vector<Suggestion>& all = answered.devices.at(0).suggestions;
  ASSERT_EQ(all.front().fits, true);
  EXPECT_FALSE(all.front().edits.empty());
  for (const Suggestion& other : all) {
    if (!other.serves) continue;
    EXPECT_LE(all.front().price(), other.price());
  }
}

TEST(Suggest, WhatFitsStaysWithinTheBudget) {
  const SuggestAnswer answered = suggested({.budget = 390 * kMiB});
  for (const Suggestion& s : answered.devices.at(0).suggestions) {
    if (!s.serves) continue;
    EXPECT_LE(s.peak_reserved, 390 * kMiB);
  }
}

TEST(Suggest, WhereNothingFitsTheAnswerIsNo) {
  const SuggestAnswer answered = suggested({.budget = 100 * kMiB});
  EXPECT_EQ(answered.devices.at(0).best(), nullptr);
  EXPECT_FALSE(answered.all_fit());
}

TEST(Suggest, OnlyWhatIsAllowedIsTried) {
  const SuggestAnswer computed = suggested({.budget = 384 * kMiB, .offload = false});
  for (const Suggestion& s : computed.devices.at(0).suggestions) EXPECT_EQ(s.moved, 0u);
  const SuggestAnswer moved = suggested({.budget = 384 * kMiB, .checkpoint = false});
  for (const Suggestion& s : moved.devices.at(0).suggestions) EXPECT_EQ(s.recomputed, 0u);
}

TEST(Suggest, TheRecordedFailureIsTheBudget) {
  const SuggestAnswer answered = suggested({}, "torch/gpt_train_oom.pickle");
  EXPECT_EQ(answered.devices.at(0).device.capacity_from, CapacityFrom::recorded_oom);
}

TEST(Suggest, AMarkAloneIsNoDevice) {
  RecordingWriter writer;
  writer.add(Op::marker, kNoSlot, 0);
  std::ostringstream out;
  writer_named("mrt").write(writer.recording(), out);
  const TemporaryFile file(out.str(), ".mrt");
  EXPECT_THROW(Inputs({.paths = {file.path()}}), InputError);
}

TEST(Suggest, WithoutABudgetNothingCanBeSaid) { EXPECT_THROW(suggested({}), UsageError); }

}  // namespace
}  // namespace memreplay

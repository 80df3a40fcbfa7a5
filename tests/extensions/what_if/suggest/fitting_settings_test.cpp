#include <gtest/gtest.h>

#include "extensions/what_if/suggest/fitting.hpp"
#include "run/inputs.hpp"

namespace memreplay {
namespace {

/// The program as it is, on a budget on which the recorded setting fails.
class FittingSettingsOf {
 public:
  FittingSettingsOf(const std::string& recorded_conf, Bytes budget)
      : recording_(Inputs({.paths = {MEMREPLAY_TRACES "/torch/layers_4.pickle"}}).recordings()[0]) {
    recording_.settings.conf = recorded_conf;
    const Subject subject(recording_, recording_.traces.front());
    const FittedProgram program(subject, {});
    const Setup setup;
    const Control control;
    const BudgetJudge judge(setup, budget, RestOfStep::recorded, control);
    Suggestion as_usual{.strategy = "recorded"};
    judge.judge(program, parse_strategy("recorded"), as_usual);
    EXPECT_EQ(as_usual.fits, false);
    may_fit = judge.may_fit(as_usual);
    FittingSettings settings(judge, control);
    found = settings.search(program, as_usual);
    searched = settings.searched();
  }

  bool may_fit = false;
  std::optional<Suggestion> found;
  SearchedSettings searched;

 private:
  Recording recording_;
};

TEST(FittingSettings, OfThoseThatFitTheSimplestIsTaken) {
  const FittingSettingsOf search("", 390 * kMiB);
  ASSERT_TRUE(search.found);
  EXPECT_TRUE(search.found->fits);
  EXPECT_EQ(search.found->conf, "large_segment_size_mb:32");
  EXPECT_EQ(search.searched.programs, 1u);
  EXPECT_GT(search.searched.tried, 100u);
}

TEST(FittingSettings, RecordedOptionsThatAreNotVariedAreKept) {
  const FittingSettingsOf search("pinned_num_register_threads:2", 390 * kMiB);
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.found->conf, "pinned_num_register_threads:2,large_segment_size_mb:32");
  EXPECT_EQ(search.found->strategy, "torch:pinned_num_register_threads=2,large_segment_size_mb=32");
}

TEST(FittingSettings, WhatAStrategyDoesNotTakeIsSetAllTheSame) {
  const FittingSettingsOf search("release_lock_on_hipmalloc:True", 390 * kMiB);
  ASSERT_TRUE(search.found);
  EXPECT_EQ(search.found->conf, "release_lock_on_hipmalloc:True,large_segment_size_mb:32");
  EXPECT_EQ(search.found->strategy, "torch:large_segment_size_mb=32");
}

TEST(FittingSettings, WhereNoneIsFoundNothingIsSaid) {
  const FittingSettingsOf search("", 384 * kMiB);
  EXPECT_TRUE(search.may_fit);
  EXPECT_FALSE(search.found);
}

TEST(FittingSettings, WhatIsRequestedMustFit) {
  EXPECT_FALSE(FittingSettingsOf("", 300 * kMiB).may_fit);
}

}  // namespace
}  // namespace memreplay

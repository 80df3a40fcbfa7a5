#include "questions/tune/answer.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"
#include "run/inputs.hpp"

namespace memreplay {
namespace {

Inputs bundled(const std::string& name) {
  return Inputs({.paths = {std::string(MEMREPLAY_TRACES) + "/torch/" + name}});
}

bool says(const TuneAnswer& tuned, const std::string& part) {
  return std::ranges::any_of(tuned.remarks, [&](const std::string& remark) {
    return remark.find(part) != std::string::npos;
  });
}

TEST(TuneAnswer, NamesASettingThatServesOnTheRecordedDevice) {
  const TuneAnswer tuned = answer(bundled("gpt_train_oom.pickle"), {.runs = 20}, {});
  EXPECT_EQ(tuned.devices.at(0).capacity, 5226 * kMiB);
  EXPECT_TRUE(tuned.result.helps);
  EXPECT_EQ(tuned.result.conf(tuned.result.outcomes[tuned.result.best]),
            "expandable_segments:True");
  EXPECT_EQ(tuned.result.baseline_outcome.runs.at(0).strategy, "recorded");
  EXPECT_EQ(tuned.result.outcomes.front().runs.at(0).place, 1u);
  EXPECT_TRUE(tuned.traces.at(0).early_end);
  for (const TuneOutcome& outcome : tuned.result.outcomes) EXPECT_TRUE(outcome.at_least());
  EXPECT_TRUE(tuned.result.baseline_outcome.at_least());
}

TEST(TuneAnswer, OnlyWhatIsAllowedIsVaried) {
  const TuneAnswer tuned =
      answer(bundled("seq_growth.pickle"), {.runs = 10, .allowed = {"expandable_segments"}}, {});
  for (const TuneOutcome& outcome : tuned.result.outcomes) {
    for (const Setting& setting : outcome.settings) {
      EXPECT_EQ(setting, Setting{.expandable_segments = setting.expandable_segments});
    }
  }
}

TEST(TuneAnswer, WhatIsAllowedAndForbiddenIsRefused) {
  const TuneQuestion question{.allowed = {"max_split_size_mb"}, .forbidden = {"max_split_size_mb"}};
  EXPECT_THROW(answer(bundled("seq_growth.pickle"), question, {}), UsageError);
}

TEST(TuneAnswer, InsertedCallsAreToldApart) {
  const TuneAnswer tuned =
      answer(bundled("seq_growth.pickle"), {.runs = 1, .insertions = {"empty_cache@10"}}, {});
  ASSERT_TRUE(tuned.result.without_insertions);
  EXPECT_TRUE(says(tuned, "The inserted empty_cache alone: recorded"));
  const TuneQuestion nowhere{.insertions = {"empty_cache@nowhere"}};
  EXPECT_THROW(answer(bundled("seq_growth.pickle"), nowhere, {}), UsageError);
}

}  // namespace
}  // namespace memreplay

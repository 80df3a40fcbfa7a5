#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "questions/check/checks.hpp"

namespace memreplay {
namespace {

CheckAnswer estimated_run() {
  CheckAnswer answer = worse_run();
  answer.entries[0].values[0].interval = BytesInterval{5000 * kMiB, 5500 * kMiB};
  return answer;
}

TEST(CheckForGitHub, AnnotatesTheLinesThatGrew) {
  CheckAnswer answer = worse_run();
  answer.entries[0].code["model.py:88 MLP.forward"] = {"src/model.py", 88};
  const std::string text = to_github(answer);
  EXPECT_TRUE(
      text.starts_with("::error file=src/model.py,line=88,title=memory of run.pickle::"
                       "model.py:88 MLP.forward +96 MiB: peak reserved 5328 MiB > 5202 MiB"))
      << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

TEST(CheckForGitHub, ALineThatExplainsLessThanATenthIsNotAnnotated) {
  CheckAnswer answer = worse_run();
  answer.entries[0].grown[1].grown = 10 * kMiB;
  answer.entries[0].code["model.py:88 MLP.forward"] = {"src/model.py", 88};
  answer.entries[0].code["loss.py:12 cross_entropy"] = {"src/loss.py", 12};
  EXPECT_EQ(to_github(answer).find("loss.py"), std::string::npos);
  answer.entries[0].grown[1].grown = 11 * kMiB;
  EXPECT_NE(to_github(answer).find("file=src/loss.py,line=12"), std::string::npos);
}

TEST(CheckForGitHub, EscapesWhatWouldEndAPropertyOrTheLine) {
  CheckAnswer answer = worse_run();
  answer.entries[0].trace = "a,b:c\n%.pickle";
  answer.entries[0].grown.clear();
  const std::string text = to_github(answer);
  EXPECT_TRUE(text.starts_with("::error title=memory of a%2Cb%3Ac%0A%25.pickle::")) << text;
  EXPECT_NE(text.find("5100 MiB + 2 %25; +4.5 %25)"), text.npos) << text;
  EXPECT_EQ(std::ranges::count(text, '\n'), 1);
}

TEST(CheckForGitHub, WhatPassedSaysNothingAndWhatFailedToBeReadDoes) {
  CheckAnswer answer = worse_run();
  answer.entries[0].values.erase(answer.entries[0].values.begin());
  EXPECT_EQ(to_github(answer), "");
  answer.failed = {{"b.pickle", "b.pickle: is empty"}};
  EXPECT_EQ(to_github(answer), "::error title=b.pickle is not checked::b.pickle: is empty\n");
}

TEST(CheckForBencher, TheIntervalIsTheBounds) {
  const auto json = nlohmann::json::parse(to_bencher(estimated_run()));
  const auto& metrics = json.at("run.pickle");
  EXPECT_EQ(metrics.at("peak_reserved_bytes").at("lower_value"), 5000 * kMiB);
  EXPECT_EQ(metrics.at("peak_reserved_bytes").at("upper_value"), 5500 * kMiB);
  EXPECT_EQ(metrics.at("peak_allocated_bytes"), nlohmann::json({{"value", 5179 * kMiB}}));
}

TEST(CheckForBenchmarkAction, EachValueHasANameAUnitAndItsRange) {
  const auto json = nlohmann::json::parse(to_benchmark_action(estimated_run()));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0].at("name"), "run.pickle: peak_reserved_bytes");
  EXPECT_EQ(json[0].at("unit"), "B");
  EXPECT_TRUE(json[0].contains("range"));
  EXPECT_FALSE(json[1].contains("range"));
}

TEST(CheckForOssBenchmarks, EachValueIsARecord) {
  const auto json = nlohmann::json::parse(to_oss_benchmark(worse_run()));
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0].at("model").at("name"), "run.pickle");
  EXPECT_EQ(json[0].at("metric").at("benchmark_values"), nlohmann::json({5328 * kMiB}));
}

TEST(CheckFormats, OfNothingEachIsStillWhatItIs) {
  EXPECT_EQ(to_github({}), "");
  EXPECT_EQ(to_bencher({}), "{}\n");
  EXPECT_EQ(to_benchmark_action({}), "[]\n");
  EXPECT_EQ(to_oss_benchmark({}), "[]\n");
}

TEST(CheckText, ABudgetIsCalledOneAndNoUpdateIsAdvised) {
  CheckAnswer answer = worse_run();
  answer.entries[0].values[0].of_budget = true;
  const std::string text = to_text(answer, {});
  EXPECT_NE(text.find("(the budget; baseline 5100 MiB; +4.5 %)"), text.npos) << text;
  EXPECT_EQ(text.find("--update"), text.npos) << text;
}

}  // namespace
}  // namespace memreplay

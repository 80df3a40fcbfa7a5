#include "questions/explain/growth.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "questions/explain/explain_report.hpp"

namespace memreplay {
namespace {

using Verdict = StepGrowth::Verdict;

GrowingPlace place(const char* name, Bytes per_step) {
  return {name, {0, per_step, 2 * per_step, 3 * per_step}, per_step, 1, 7};
}

StepGrowth growth(Verdict verdict, std::vector<Bytes> live) {
  StepGrowth growth{.verdict = verdict, .source = Steps::Source::markers};
  growth.steps = live.size() - 1;
  growth.live = std::move(live);
  return growth;
}

TEST(GrowthSentence, SaysHowMuchWhereAndSinceWhen) {
  StepGrowth g = growth(Verdict::grows, {0, kMiB, 2 * kMiB, 3 * kMiB});
  g.per_step = kMiB;
  g.since_step = 1;
  g.places = {place("train.py:31 run", kMiB)};
  EXPECT_EQ(growth_sentence(g), "Grows by 1 MiB a step: train.py:31 run, since step 1 (event 7).");
  g.places.insert(g.places.begin(), place("model.py:8 forward", 2 * kMiB));
  EXPECT_EQ(growth_sentence(g),
            "Grows by 3 MiB a step in 2 call sites, most in model.py:8 forward: 2 MiB a step, "
            "since step 1 (event 7).");
}

TEST(GrowthSentence, SaysWhenTheDeviceIsFull) {
  StepGrowth g = growth(Verdict::grows, {0, kMiB, 2 * kMiB, 3 * kMiB});
  g.places = {place("train.py:31 run", kMiB)};
  g.room = 8 * kMiB;
  g.steps_until_full = 1;
  EXPECT_TRUE(growth_sentence(g).ends_with(
      "At this rate the device of 8 MiB is full after 1 more step at the latest."));
}

TEST(GrowthSentence, WhereNothingGrowsItSaysWhatStays) {
  EXPECT_EQ(growth_sentence(growth(Verdict::steady, {0, 9 * kMiB, 5 * kMiB, 5 * kMiB, 5 * kMiB})),
            "Nothing grows: 5 MiB after each of the last 3 steps.");
  EXPECT_EQ(growth_sentence(growth(Verdict::steady, {0, 9 * kMiB, 5 * kMiB, 7 * kMiB, 6 * kMiB})),
            "Nothing grows: 5 MiB to 7 MiB after each of the last 3 steps.");
}

TEST(GrowthSentence, WithoutStepsItSaysHowToMarkThem) {
  const std::string said = growth_sentence({});
  EXPECT_TRUE(said.starts_with("Unknown: no steps are marked"));
  EXPECT_NE(said.find("record_function"), std::string::npos);
  EXPECT_EQ(growth_sentence(growth(Verdict::unknown, {0, kMiB})),
            "Unknown: 1 step is complete; growth needs at least three.");
}

TEST(Growth, StandsInThePlaceOfTheExplanation) {
  ExplainedDevice device;
  device.trace.path = "run.csv";
  device.growth = growth(Verdict::grows, {0, kMiB, 2 * kMiB, 3 * kMiB});
  device.growth->places = {place("train.py:31 run", kMiB), place("b.py:1 f", kKiB)};
  device.asks_growth = true;
  device.explanation.rows = 1;
  const ExplainAnswer answer{.devices = {device}};
  const std::string text = to_text(answer, {});
  EXPECT_TRUE(text.starts_with("Grows by "));
  EXPECT_NE(text.find("… and 1 more"), std::string::npos);
  EXPECT_EQ(text.find("live peak"), std::string::npos);
  EXPECT_EQ(to_table(answer).rows.size(), 2u);
  const auto json = nlohmann::json::parse(to_json(answer))["growth"];
  EXPECT_EQ(json["verdict"], "grows");
  EXPECT_EQ(json["live_bytes"], nlohmann::json({kMiB, 2 * kMiB, 3 * kMiB}));
  EXPECT_EQ(json["places"][0]["first_event"], 7);
}

}  // namespace
}  // namespace memreplay

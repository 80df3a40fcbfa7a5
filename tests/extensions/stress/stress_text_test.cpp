#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "extensions/stress/stress_report.hpp"

namespace memreplay {
namespace {

StressRun run_of(std::int64_t margin) {
  StressRun run;
  run.recorded.strategy = "torch";
  run.recorded.metrics.peak_reserved = run.recorded_order = 100 * kMiB;
  run.recorded.metrics.peak_requested = 80 * kMiB;
  run.orders = 5000;
  run.reserved = {90 * kMiB, 95 * kMiB, 98 * kMiB, 110 * kMiB};
  run.orders_by_reserved = {{90 * kMiB, 2000}, {110 * kMiB, 3000}};
  run.live = {70 * kMiB, 80 * kMiB, 80 * kMiB, 85 * kMiB};
  run.margin = StressMargin{.confidence = 0.9933,
                            .peak_reserved = 100 * kMiB + static_cast<Bytes>(margin),
                            .over_recorded = margin,
                            .over_live = 25 * static_cast<std::int64_t>(kMiB)};
  return run;
}

StressAnswer answer_of(const StressRun& run) {
  StressedDevice device;
  device.trace.path = "a.csv";
  device.steps = {.from = StepsFrom::markers, .steps = 12};
  device.orders = 5000;
  device.seed = 1;
  device.runs = {run};
  return {.devices = {device}};
}

bool says(const StressAnswer& answer, const std::string& words) {
  std::string text = to_text(answer, {});
  for (std::size_t at = 0; (at = text.find("\n ", at)) != text.npos;) text.erase(at, 1);
  return text.find(words) != std::string::npos;
}

constexpr auto kTen = 10 * static_cast<std::int64_t>(kMiB);

TEST(StressReport, TheTextBeginsWithTheMargin) {
  EXPECT_TRUE(to_text(answer_of(run_of(kTen)), {})
                  .starts_with(" A margin of 10 MiB (10.0 %) over the recorded peak (100 MiB) is "
                               "enough for 99.9 % of orders, with\n"
                               " 99 % confidence.\n"));
}

TEST(StressReport, WhereOtherOrdersNeedLessNoMarginIsNeeded) {
  EXPECT_TRUE(says(answer_of(run_of(-kTen)),
                   "No margin is needed over the recorded peak (100 MiB): 99.9 % of orders stay "
                   "within 90 MiB"));
}

TEST(StressReport, WhereOrdersRunOutOfMemoryTheTextSaysHowMany) {
  StressRun run = run_of(kTen);
  run.margin.reset();
  run.orders_with_oom = 600;
  StressAnswer answer = answer_of(run);
  answer.devices[0].device.capacity = 120 * kMiB;
  EXPECT_TRUE(says(answer, "600 of 5,000 orders (12.0 %) run out of memory on a device of 120"));
  EXPECT_TRUE(nlohmann::json::parse(to_json(answer))["runs"][0]["margin"].is_null());
}

TEST(StressReport, WhatConcernsSeveralStepsIsCounted) {
  StressAnswer answer = answer_of(run_of(kTen));
  answer.devices[0].steps.crossing_blocks = 3;
  answer.devices[0].steps.crossing_bytes = 3 * kMiB;
  answer.devices[0].steps.lasting_blocks = 1;
  answer.devices[0].steps.last_stays = true;
  EXPECT_TRUE(says(answer, "3 blocks (3 MiB) outlive the step that requested them"));
  EXPECT_TRUE(says(answer, "1 block (0 B) allocated in a step is never freed"));
  EXPECT_TRUE(says(answer, "The last step stays last"));
}

TEST(StressReport, FewOrdersSayHowManyAreEnough) {
  StressRun run = run_of(kTen);
  run.orders = 1000;
  run.margin->confidence = 0.632;
  EXPECT_TRUE(says(answer_of(run), "with 63.2 % confidence"));
  EXPECT_TRUE(says(answer_of(run), "1,000 orders are few: use --orders 4603 for 99 % confidence."));
}

TEST(StressReport, WithoutStepsItSaysWhatMakesThem) {
  StressAnswer answer = answer_of(run_of(kTen));
  answer.devices[0].steps = {};
  answer.devices[0].runs.clear();
  EXPECT_TRUE(answer.nothing_to_order());
  EXPECT_TRUE(says(answer, "a.csv has no two steps that could be reordered"));
}

TEST(StressReport, TheJsonHasBytesAndShares) {
  const auto json = nlohmann::json::parse(to_json(answer_of(run_of(kTen))));
  EXPECT_EQ(json["command"], "stress");
  const auto& run = json["runs"][0];
  EXPECT_EQ(run["margin"]["over_recorded_bytes"], 10 * kMiB);
  EXPECT_EQ(run["margin"]["over_recorded"], 0.1);
  EXPECT_EQ(run["peak_reserved_bytes"]["max"], 110 * kMiB);
  EXPECT_EQ(run["orders_by_peak_reserved"],
            (nlohmann::json{{90 * kMiB, 2000}, {110 * kMiB, 3000}}));
  EXPECT_EQ(json["work"]["from"], "markers");
}

}  // namespace
}  // namespace memreplay

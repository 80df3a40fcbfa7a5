#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "questions/fit/fit_report.hpp"

namespace memreplay {
namespace {

FitRun run_on(const std::string& strategy, std::optional<Bytes> smallest) {
  FitRun run;
  run.there.strategy = strategy;
  run.fit.smallest = run.fit.smallest_without_retries = smallest;
  run.there.metrics.peak_requested = run.there.metrics.peak_asked = 50 * kMiB;
  run.there.metrics.lower_bound = 52 * kMiB;
  return run;
}

FittedDevice device_of(std::vector<FitRun> runs) {
  FittedDevice device;
  device.trace.path = "a.csv";
  device.device.granularity = 2 * kMiB;
  device.runs = std::move(runs);
  return device;
}

FitAnswer answer_of(std::vector<FitRun> runs) { return {.devices = {device_of(std::move(runs))}}; }

bool says(const FitAnswer& answer, const std::string& words) {
  std::string text = to_text(answer, {});
  for (std::size_t at = 0; (at = text.find("\n ", at)) != text.npos;) text.erase(at, 1);
  return text.find(words) != std::string::npos;
}

TEST(FitReport, TheBestNeedsTheLeast) {
  const std::vector<FitRun> runs = {run_on("a", 80 * kMiB), run_on("b", std::nullopt),
                                    run_on("c", 60 * kMiB)};
  EXPECT_EQ(device_of(runs).best()->there.strategy, "c");
  EXPECT_EQ(device_of({runs[1]}).best(), nullptr);
  FittedDevice moving = device_of(runs);
  moving.runs[2].there.metrics.moved_out_blocks = 1;
  EXPECT_EQ(moving.best()->there.strategy, "a");
}

TEST(FitReport, AllFitWhereEachFitsWhatWasAskedFor) {
  EXPECT_TRUE(answer_of({run_on("a", kMiB)}).all_fit());
  EXPECT_FALSE(answer_of({run_on("a", kMiB), run_on("b", std::nullopt)}).all_fit());
  FitRun too_large = run_on("a", 80 * kMiB);
  too_large.fit.given = GivenDevice{.fits = false};
  FitAnswer answer = answer_of({too_large});
  EXPECT_TRUE(answer.all_fit());  // nobody asked for that device
  answer.devices[0].device.capacity_from = CapacityFrom::option;
  EXPECT_FALSE(answer.all_fit());
}

TEST(FitReport, CardsForAnAssumedRestOfAStepAreConditional) {
  FitAnswer answer = answer_of({run_on("recorded", 60 * kMiB)});
  answer.devices[0].cards = {SufficingCard{Card{.name = "T4-16GB", .total = 16 * kGiB}, {}}};
  EXPECT_TRUE(says(answer, "fits: T4-16GB"));
  answer.devices[0].completed = true;
  EXPECT_FALSE(says(answer, "fits: T4-16GB"));
  EXPECT_TRUE(says(answer, "fits if the unfinished step continues like the one before: T4-16GB"));
}

TEST(FitReport, TheTextSaysWhatTheSizeIsMadeOf) {
  EXPECT_TRUE(says(answer_of({run_on("torch", 60 * kMiB)}),
                   "torch needs 10 MiB more than the 50 MiB requested at the peak: 2 MiB for "
                   "rounding, 8 MiB that it cannot use at that time."));
}

TEST(FitReport, TheTextSaysThatMoreMayBeWorse) {
  FitRun run = run_on("torch", 60 * kMiB);
  run.fit.fails_again = 70 * kMiB;
  EXPECT_TRUE(says(answer_of({run}), "fits 60 MiB, but some larger devices fail again, up to 70"));
  EXPECT_TRUE(says(answer_of({run}), "From 72 MiB on every device fits."));
  run.fit.known_below = 90 * kMiB;
  EXPECT_FALSE(says(answer_of({run}), "on every device fits."));
}

TEST(FitReport, WhatIsNotProvenIsAtMost) {
  FitRun run = run_on("torch", 60 * kMiB);
  run.fit.known_below = 56 * kMiB;
  EXPECT_TRUE(says(answer_of({run}), "at most 60 MiB"));
  EXPECT_TRUE(says(answer_of({run}), "devices from 56 MiB to 60 MiB were not all tried"));
}

TEST(FitReport, WhatFitsNowhereSaysWhy) {
  FitRun run = run_on("bump:size=1MiB", std::nullopt);
  run.fit.first_oom = OomPlace{.event = 7, .requested = 2 * kMiB, .largest_free = kMiB};
  EXPECT_TRUE(says(answer_of({run}), "bump:size=1MiB fits no device"));
  EXPECT_TRUE(says(answer_of({run}), "at event 7, where 2 MiB are requested"));
}

TEST(FitReport, TheGivenDeviceHasAColumn) {
  FitRun fits = run_on("a", 60 * kMiB);
  fits.fit.given = GivenDevice{.fits = true};
  FitRun fails = run_on("b", 80 * kMiB);
  fails.fit.given = GivenDevice{.fits = false};
  FitAnswer answer = answer_of({fits, fails});
  answer.devices[0].device.capacity = 64 * kMiB;
  answer.devices[0].device.name = "CARD";
  EXPECT_TRUE(says(answer, "fits, 4 MiB to spare"));
  EXPECT_TRUE(says(answer, "does not fit, 16 MiB too small"));
}

TEST(FitReport, WhereTheReserveIsNotKnownItMayFit) {
  FitRun may = run_on("a", 60 * kMiB);
  may.fit.given = GivenDevice{.fits = false, .may_fit = true};
  FitAnswer answer = answer_of({may});
  answer.devices[0].device.capacity = 64 * kMiB;
  answer.devices[0].device.capacity_from = CapacityFrom::option;
  EXPECT_TRUE(says(answer, "may fit"));
  EXPECT_FALSE(says(answer, "to spare"));
  EXPECT_FALSE(answer.all_fit());
  EXPECT_TRUE(nlohmann::json::parse(to_json(answer))["runs"][0]["fits"].is_null());
}

TEST(FitReport, WhatIsSetAsideIsNamed) {
  FitAnswer answer = answer_of({run_on("a", 60 * kMiB)});
  FittedDevice& device = answer.devices[0];
  device.device.capacity = 14912 * kMiB;
  device.set_aside = SetAside{.context = kContext,
                              .libraries = 92 * kMiB,
                              .least = 80 * kMiB,
                              .most = 765 * kMiB,
                              .loaded = {.used = {true}},
                              .processes = 1};
  device.device.set_aside = device.set_aside;
  device.device.reserve = device.reserve = device.set_aside->bytes();
  EXPECT_TRUE(says(answer,
                   "592 MiB of the device are set aside for the CUDA context (500 MiB) and kernels "
                   "(92 MiB); from card to card that is 80 MiB to 765 MiB"));
  EXPECT_FALSE(says(answer, "convolutions"));
  device.set_aside->kernels = KernelsThere::may_differ;
  EXPECT_TRUE(says(answer, "does not say on which card it was made"));
  const auto json = nlohmann::json::parse(to_json(answer))["device"];
  EXPECT_EQ(json["usable_bytes"], 14320 * kMiB);
  EXPECT_EQ(json["context"], kContext);
  EXPECT_EQ(json["libraries"], 92 * kMiB);
  EXPECT_EQ(json["others"], 0);
}

TEST(FitReport, TheJsonHasNullWhereNothingIsKnown) {
  FitRun fits = run_on("a", 60 * kMiB);
  fits.there.metrics.oom_retries = 3;
  const auto json = nlohmann::json::parse(to_json(answer_of({fits, run_on("b", {})})));
  EXPECT_EQ(json.at("command"), "fit");
  const auto& run = json.at("runs").at(0);
  EXPECT_EQ(run.at("smallest_capacity_bytes"), 60 * kMiB);
  EXPECT_EQ(run.at("oom_retries_there"), 3);
  EXPECT_TRUE(run.at("proven_smallest"));
  EXPECT_TRUE(run.at("fits").is_null());
  EXPECT_TRUE(json.at("runs").at(1).at("smallest_capacity_bytes").is_null());
  EXPECT_TRUE(json.at("runs").at(1).at("oom_retries_there").is_null());
}

TEST(FitReport, OfSeveralTheWorstNeedsTheLargest) {
  const FitAnswer answer{
      .devices = {device_of({run_on("a", 60 * kMiB)}), device_of({run_on("a", 80 * kMiB)})}};
  const auto json = nlohmann::json::parse(to_json(answer));
  EXPECT_EQ(json.at("worst"), 1);
  EXPECT_EQ(json.at("results").size(), 2u);
  EXPECT_NE(to_text(answer, {}).find("worst: a.csv gpu 0, a needs 80 MiB."), std::string::npos);
}

TEST(FitReport, WhatWasInterruptedSaysThatThereIsMore) {
  FitAnswer answer{.devices = {{}}};
  EXPECT_EQ(to_text(answer, {}).find("Interrupted"), std::string::npos);
  answer.interrupted = true;
  EXPECT_TRUE(to_text(answer, {}).ends_with("Interrupted: this answer is incomplete.\n"));
}

TEST(FitReport, WithoutARequestNoCardIsNamed) {
  FitAnswer answer = answer_of({});
  answer.devices[0].nothing_requested = true;
  EXPECT_TRUE(says(answer, "a state without a history"));
  EXPECT_FALSE(says(answer, "fits:"));
  EXPECT_TRUE(answer.all_fit());
  const auto json = nlohmann::json::parse(to_json(answer));
  EXPECT_TRUE(json["cards_that_fit"].is_null());
  EXPECT_EQ(json["remarks"].size(), 1u);
}

TEST(FitReport, ALateRecordingHasAnIntervalAndANextStep) {
  FitRun run = run_on("recorded", 60 * kMiB);
  run.interval = {50 * kMiB, 70 * kMiB};
  run.there.exact = false;
  const FitAnswer answer = answer_of({run});
  EXPECT_TRUE(says(answer, "≈ 60 MiB (50 MiB to 70 MiB)"));
  EXPECT_TRUE(says(answer, "To be sure, record from the start of the program"));
  EXPECT_EQ(nlohmann::json::parse(to_json(answer))["runs"][0]["interval"],
            nlohmann::json({{"smallest_capacity_bytes", {50 * kMiB, 70 * kMiB}}}));
}

}  // namespace
}  // namespace memreplay

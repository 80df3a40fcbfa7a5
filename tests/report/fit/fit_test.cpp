#include "report/fit/fit.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace memreplay {
namespace {

FitRun run_on(const std::string& strategy, std::optional<Bytes> smallest) {
  FitRun run;
  run.there.strategy = strategy;
  run.fit.smallest = run.fit.smallest_without_retries = smallest;
  if (smallest) run.fit.there.emplace();
  run.there.metrics.peak_requested = run.there.metrics.peak_asked = 50 * kMiB;
  run.there.metrics.lower_bound = 52 * kMiB;
  return run;
}

FitReport report_of(std::vector<FitRun> runs) {
  FitReport report;
  report.trace.path = "a.csv";
  report.device.granularity = 2 * kMiB;
  report.runs = std::move(runs);
  return report;
}

bool says(const FitReport& report, const std::string& words) {
  std::string text = fit_text({report}, {});
  for (std::size_t at = 0; (at = text.find("\n ", at)) != text.npos;) text.erase(at, 1);
  return text.find(words) != std::string::npos;
}

TEST(FitReport, TheBestNeedsTheLeast) {
  const std::vector<FitRun> runs = {run_on("a", 80 * kMiB), run_on("b", std::nullopt),
                                    run_on("c", 60 * kMiB)};
  EXPECT_EQ(best_of(runs)->there.strategy, "c");
  EXPECT_EQ(best_of(std::vector{runs[1]}), nullptr);
  std::vector<FitRun> moving = runs;
  moving[2].there.metrics.moved_out_blocks = 1;
  EXPECT_EQ(best_of(moving)->there.strategy, "a");
}

TEST(FitReport, AllFitWhereEachFitsWhatWasAskedFor) {
  EXPECT_TRUE(all_fit({report_of({run_on("a", kMiB)})}));
  EXPECT_FALSE(all_fit({report_of({run_on("a", kMiB), run_on("b", std::nullopt)})}));
  FitRun too_large = run_on("a", 80 * kMiB);
  too_large.fit.given = GivenDevice{.fits = false};
  EXPECT_FALSE(all_fit({report_of({too_large})}));
}

TEST(FitReport, TheTextSaysWhatTheSizeIsMadeOf) {
  EXPECT_TRUE(says(report_of({run_on("torch", 60 * kMiB)}),
                   "torch needs 10 MiB more than the 50 MiB asked for at the peak: 2 MiB for "
                   "rounding, 8 MiB that it cannot use then."));
}

TEST(FitReport, TheTextSaysThatMoreMayBeWorse) {
  FitRun run = run_on("torch", 60 * kMiB);
  run.fit.fails_again = 70 * kMiB;
  EXPECT_TRUE(says(report_of({run}), "fits 60 MiB, but some larger devices fail again, up to 70"));
  EXPECT_TRUE(says(report_of({run}), "From 72 MiB on every device fits."));
  run.fit.known_below = 90 * kMiB;
  EXPECT_FALSE(says(report_of({run}), "on every device fits."));
}

TEST(FitReport, WhatIsNotProvenIsAtMost) {
  FitRun run = run_on("torch", 60 * kMiB);
  run.fit.known_below = 56 * kMiB;
  EXPECT_TRUE(says(report_of({run}), "at most 60 MiB"));
  EXPECT_TRUE(says(report_of({run}), "devices from 56 MiB to 60 MiB were not all tried"));
}

TEST(FitReport, WhatFitsNowhereSaysWhy) {
  FitRun run = run_on("bump:size=1MiB", std::nullopt);
  run.fit.first_oom = OomPlace{.event = 7, .requested = 2 * kMiB, .largest_free = kMiB};
  EXPECT_TRUE(says(report_of({run}), "bump:size=1MiB fits no device"));
  EXPECT_TRUE(says(report_of({run}), "at event 7, asked 2 MiB"));
}

TEST(FitReport, TheGivenDeviceHasAColumn) {
  FitRun fits = run_on("a", 60 * kMiB);
  fits.fit.given = GivenDevice{.fits = true};
  FitRun fails = run_on("b", 80 * kMiB);
  fails.fit.given = GivenDevice{.fits = false};
  FitReport report = report_of({fits, fails});
  report.device.capacity = 64 * kMiB;
  report.device.name = "CARD";
  EXPECT_TRUE(says(report, "fits, 4 MiB to spare"));
  EXPECT_TRUE(says(report, "does not fit, 16 MiB too small"));
}

TEST(FitReport, TheJsonHasNullWhereNothingIsKnown) {
  FitRun fits = run_on("a", 60 * kMiB);
  fits.there.metrics.oom_retries = 3;
  const auto json = nlohmann::json::parse(fit_json({report_of({fits, run_on("b", {})})}));
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
  const std::vector<FitReport> reports = {report_of({run_on("a", 60 * kMiB)}),
                                          report_of({run_on("a", 80 * kMiB)})};
  const auto json = nlohmann::json::parse(fit_json(reports));
  EXPECT_EQ(json.at("worst"), 1);
  EXPECT_EQ(json.at("results").size(), 2u);
  EXPECT_NE(fit_text(reports, {}).find("worst: a.csv gpu 0, a needs 80 MiB."), std::string::npos);
}

}  // namespace
}  // namespace memreplay

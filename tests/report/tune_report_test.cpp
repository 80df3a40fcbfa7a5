#include "report/tune_report.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace memreplay {
namespace {

TuneOutcome outcome(const Setting& setting, std::uint64_t ooms, Bytes reserved,
                    std::uint64_t calls) {
  RunMetrics metrics;
  metrics.ooms = ooms;
  metrics.peak_reserved = reserved;
  metrics.device_allocs = calls;
  return {{setting}, {metrics}, {""}, true};
}

TuneReport report_of(TuneOutcome baseline, std::vector<TuneOutcome> outcomes) {
  TuneReport report;
  report.traces = {{}};
  report.devices = {{}};
  report.model_checks = {std::nullopt};
  report.result.baseline = "recorded";
  report.result.variable = "PYTORCH_CUDA_ALLOC_CONF";
  report.result.baseline_outcome = std::move(baseline);
  report.result.outcomes = std::move(outcomes);
  report.result.helps = true;
  return report;
}

TEST(TuneReport, AListIsQuotedForTheShell) {
  const TuneReport report = report_of(outcome({}, 0, 1, 1), {outcome({}, 0, 1, 1)});
  Setting list;
  list.roundup_power2_divisions[3] = 8;
  EXPECT_EQ(export_line(report, list),
            "export PYTORCH_CUDA_ALLOC_CONF=\"roundup_power2_divisions:[1:0,8:8]\"");
  EXPECT_EQ(export_line(report, {.max_split_size_mb = 64}),
            "export PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64");
  EXPECT_EQ(export_line(report, {}), "export PYTORCH_CUDA_ALLOC_CONF=\"\"");
  EXPECT_EQ(list_shortened("a:1,roundup_power2_divisions:[1:0,8:8],b:2"),
            "a:1,roundup_power2_divisions:[…],b:2");
}

TEST(TuneReport, TheAnswerComesFirstAndTheLineToPasteIsThere) {
  const TuneReport report = report_of(
      outcome({}, 1, 90 * kMiB, 3),
      {outcome({.expandable_segments = true}, 0, 100 * kMiB, 9), outcome({}, 1, 90 * kMiB, 3)});
  const std::string text = tune_text(report, {});
  EXPECT_TRUE(text.starts_with(" expandable_segments:True serves every request")) << text;
  EXPECT_NE(text.find("\n export PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True\n"),
            std::string::npos);
}

TEST(TuneReport, WhereNothingHelpsThereIsNothingToPaste) {
  TuneReport report = report_of(outcome({}, 0, 90 * kMiB, 3), {outcome({}, 0, 90 * kMiB, 3)});
  report.result.helps = false;
  const std::string text = tune_text(report, {});
  EXPECT_TRUE(text.starts_with(" Nothing helps")) << text;
  EXPECT_EQ(text.find("export"), std::string::npos);
}

TEST(TuneReport, TheJsonHasARunForEveryOutcomeWithItsSettings) {
  TuneReport report = report_of(
      outcome({}, 0, 9, 3), {outcome({.max_split_size_mb = 64}, 0, 5, 3), outcome({}, 0, 9, 3)});
  report.result.tried = 7;
  const auto json = nlohmann::json::parse(tune_json(report));
  EXPECT_EQ(json["command"], "tune");
  EXPECT_EQ(json["tried"], 7);
  ASSERT_EQ(json["runs"].size(), 2u);
  EXPECT_EQ(json["runs"][0]["settings"], nlohmann::json({"max_split_size_mb:64"}));
  EXPECT_EQ(json["runs"][0]["peak_reserved_bytes"], 5);
  EXPECT_EQ(json["baseline"]["peak_reserved_bytes"], 9);
  EXPECT_EQ(json["best"]["setting"], "max_split_size_mb:64");
}

}  // namespace
}  // namespace memreplay

#include "report/tune/tune.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "report/tune/phrases.hpp"

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

// The recording starts late: 80 to 110 MiB are estimated of the first.
TuneReport late_report(LateVerdict::Kind kind) {
  TuneReport report = report_of(outcome({}, 0, 120 * kMiB, 3),
                                {outcome({.expandable_segments = true}, 0, 90 * kMiB, 9),
                                 outcome({.large_segment_size_mb = 64}, 0, 80 * kMiB, 9)});
  TuneOutcome& first = report.result.outcomes[0];
  first.inexact_because = {"of its start"};
  first.late = {LateFigures{{{80 * kMiB, 110 * kMiB}, {70 * kMiB, 100 * kMiB}}, true}};
  report.result.outcomes[1].inexact_because = {"of its start"};
  report.result.helps = kind == LateVerdict::Kind::supported;
  report.late = {.kind = kind,
                 .best = {80 * kMiB, 110 * kMiB},
                 .baseline = {120 * kMiB, 120 * kMiB},
                 .setting = "expandable_segments:True",
                 .weighed = 1,
                 .open = 2};
  return report;
}

TEST(TuneReport, ALateRecordingIsAnsweredWithItsInterval) {
  EXPECT_TRUE(tune_text(late_report(LateVerdict::Kind::supported), {})
                  .starts_with(" expandable_segments:True reserves 80 MiB to 110 MiB, recorded 120 "
                               "MiB: less by the whole interval."));
  const std::string undecided = tune_text(late_report(LateVerdict::Kind::undecided), {});
  EXPECT_TRUE(undecided.starts_with(" Undecided: expandable_segments:True would reserve 80 MiB"));
  EXPECT_EQ(undecided.find("export"), std::string::npos);
  EXPECT_TRUE(tune_text(late_report(LateVerdict::Kind::nothing_better), {})
                  .starts_with(" Nothing helps: by the estimates"));
  EXPECT_TRUE(tune_text(late_report(LateVerdict::Kind::interrupted), {})
                  .starts_with(" Undecided: interrupted"));
}

TEST(TuneReport, WhetherALateRecordingIsServedMayBeUndecidedToo) {
  TuneReport report = late_report(LateVerdict::Kind::undecided);
  report.result.baseline_outcome.metrics[0].ooms = 1;
  EXPECT_TRUE(
      tune_text(report, {})
          .starts_with(" Undecided: expandable_segments:True may serve what recorded does not."));
}

TEST(TuneReport, RowsThatWereWeighedHaveTheirIntervalAndOthersSayThatTheyAreEstimates) {
  const std::string text = tune_text(late_report(LateVerdict::Kind::supported), {});
  EXPECT_NE(text.find("1  expandable_segments:True  ≈ 90 MiB (80 MiB to 110 MiB) "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("2  large_segment_size_mb:64 (estimate)\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 of 2 outcomes were weighed"), std::string::npos) << text;
}

TEST(TuneReport, TheJsonOfARunHasItsInterval) {
  const TuneReport report = late_report(LateVerdict::Kind::undecided);
  const auto json = nlohmann::json::parse(tune_json(report));
  const auto& interval = json["runs"][0]["interval"];
  EXPECT_EQ(interval["peak_reserved_bytes"], nlohmann::json({80 * kMiB, 110 * kMiB}));
  EXPECT_EQ(interval["end_reserved_bytes"], nlohmann::json({70 * kMiB, 100 * kMiB}));
  EXPECT_TRUE(json["runs"][1]["interval"].is_null());
  EXPECT_EQ(json["undetermined"], 2);
  EXPECT_EQ(json["weighed"], 1);
  EXPECT_TRUE(json["baseline"]["interval"].is_null());
  EXPECT_EQ(tune_table(report).rows[1].back(), std::to_string(110 * kMiB));
}

TEST(TuneReport, ATableHasANameForEveryColumn) {
  const Table table = tune_table(late_report(LateVerdict::Kind::supported));
  for (const auto& row : table.rows) EXPECT_EQ(row.size(), table.columns.size());
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

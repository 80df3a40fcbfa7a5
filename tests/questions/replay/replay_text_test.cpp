#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "questions/replay/replay_report.hpp"
#include "questions/verify/verify_report.hpp"
#include "report/parts/table.hpp"
#include "support/runs.hpp"

namespace memreplay {
namespace {

std::string one_by_one(std::vector<TraceRuns> traces, const TextStyle& style) {
  return to_text(ReplayAnswer{.traces = std::move(traces)}, style);
}

std::string side_by_side(std::vector<TraceRuns> traces, const TextStyle& style) {
  return to_text(ReplayAnswer{.traces = std::move(traces), .ranked = true}, style);
}

TraceRuns report_of(std::vector<Run> runs) {
  TraceRuns report;
  report.trace.path = "run.pickle";
  report.trace.events = 3128;
  report.trace.allocs = 1225;
  report.trace.streams = 1;
  report.runs = std::move(runs);
  set_places(report.runs);
  return report;
}

TEST(CompareText, RanksTheRunsAndEndsWithTheWinner) {
  TraceRuns report = report_of(
      {run_of("recorded", {.reserved = 5328 * kMiB, .allocated = 5178 * kMiB, .device_allocs = 69}),
       run_of("torch", {.reserved = 5184 * kMiB, .allocated = 5178 * kMiB, .device_allocs = 64})});
  report.model_check = VerifyRun{.allocs = 1225, .allocs_matched = 1225, .verdict = Verdict::exact};
  EXPECT_EQ(side_by_side({report}, {}),
            " run.pickle: 3,128 events, 1 stream, starts empty; model check: 1,225 of 1,225 "
            "placements reproduced\n"
            "\n"
            " strategy                 MaxInUse  reserved      gap  OOM  retries  device calls\n"
            " torch                    5178 MiB  5184 MiB    6 MiB    0        0            64\n"
            " recorded                 5178 MiB  5328 MiB  150 MiB    0        0            69\n"
            " lower bound (requested)  5178 MiB\n"
            "\n"
            " torch reserves 144 MiB less than recorded, with 5 fewer device allocations.\n");
}

TEST(CompareText, ThePlannedPlacementStandsBelowTheBound) {
  TraceRuns report = report_of({run_of("torch", {.reserved = 20 * kMiB, .allocated = 9 * kMiB})});
  report.planned = PlannedFloor{.height = 9 * kMiB, .lower_bound = 9 * kMiB};
  EXPECT_NE(side_by_side({report}, {}).find(" planned (proved optimal)     9 MiB\n"),
            std::string::npos)
      << side_by_side({report}, {});
  report.planned->height = 10 * kMiB;
  EXPECT_NE(side_by_side({report}, {}).find(" planned                    10 MiB\n"),
            std::string::npos)
      << side_by_side({report}, {});
  report.planned->left_out_because = "it has too many blocks";
  const std::string text = side_by_side({report}, {});
  EXPECT_EQ(text.find("\n planned"), std::string::npos) << text;
  EXPECT_NE(text.find(" No planned placement is shown below: it has too many blocks. Try: "
                      "memreplay plan TRACE"),
            std::string::npos)
      << text;
}

TEST(CompareText, AsMarkdownItHasTheSameTableAndSentences) {
  auto refused = run_of("torch", {.reserved = 5184 * kMiB, .allocated = 5178 * kMiB, .ooms = 1});
  refused.metrics.first_oom = OomPlace{12, kGiB, kMiB, kMiB, 0};
  const ReplayAnswer answer{
      .traces = {report_of({run_of("recorded", {.reserved = 5328 * kMiB}), refused})},
      .ranked = true};
  const std::string text = to_markdown(answer);
  EXPECT_TRUE(
      text.starts_with("run.pickle: 3,128 events, 1 stream, starts empty\n\n"
                       "warning: torch ran out of memory 1 time, first at event 12: "))
      << text;
  EXPECT_NE(text.find("\n\n"
                      "| strategy | MaxInUse | reserved | gap | OOM | retries | device calls |\n"
                      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
                      "| recorded | "),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("\n\nrecorded serves every request; torch runs out of memory 1 time.\n"),
            std::string::npos);
  EXPECT_EQ(text.find("\n\n\n"), std::string::npos);
}

TEST(CompareText, TimesAreShownWhereTheyWereMeasuredMoreThanOnce) {
  auto run = run_of("torch", {});
  run.metrics.events = 1000;
  run.metrics.replay_seconds = 1e-4;
  EXPECT_EQ(side_by_side({report_of({run})}, {}).find("ns/op"), std::string::npos);
  run.metrics.repeat_seconds = {1e-4, 2e-4};
  EXPECT_NE(side_by_side({report_of({run})}, {}).find("ns/op"), std::string::npos);
}

TEST(CompareText, AnEstimateHasItsUnitOnce) {
  auto run = run_of("torch", {.reserved = 665 * kMiB});
  run.interval = RunInterval{{539 * kMiB, 1454 * kMiB}, {}};
  EXPECT_NE(side_by_side({report_of({run})}, {}).find("≈ 665 MiB (539 to 1454) "),
            std::string::npos);
  run.interval->peak_reserved.high = 20 * kGiB;
  EXPECT_NE(side_by_side({report_of({run})}, {}).find("≈ 665 MiB (539 MiB to 20 GiB) "),
            std::string::npos);
}

TEST(CompareText, WhatWasCutShortIsLastMarkedAndComparedWithNothing) {
  auto cut = run_of("half", {});
  cut.finished = false;
  cut.metrics.events = 1000;
  TraceRuns report = report_of({cut, run_of("recorded", {.reserved = 20 * kMiB})});
  report.asked = 20;
  const std::string text = side_by_side({report}, {});
  EXPECT_LT(text.find(" recorded "), text.find(" half (interrupted) ")) << text;
  EXPECT_EQ(text.find("less"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with(
      "\n Interrupted: 18 of 20 not run; half cut short after 1,000 of 3,128 events.\n"))
      << text;
}

TEST(CompareText, RemarksComeBeforeTheTableSoThatTheWinnerIsLast) {
  auto run = run_of("torch", {.reserved = 20 * kMiB});
  run.metrics.remarks = {"it is a model"};
  const std::string text = side_by_side({report_of({run, run_of("recorded", {})})}, {});
  EXPECT_LT(text.find("torch: it is a model."), text.find(" strategy ")) << text;
}

TEST(CompareText, WithoutARequestThereIsNothingToCompare) {
  TraceRuns report = report_of({run_of("torch", {}), run_of("recorded", {})});
  report.trace.allocs = 0;
  EXPECT_TRUE(side_by_side({report}, {}).ends_with("there is nothing to compare.\n"));
}

TEST(CompareText, NoLineIsWiderThanTheTerminal) {
  std::vector<memreplay::Run> runs;
  for (int i = 0; i < 20; ++i) {
    runs.push_back(run_of(std::string(30, static_cast<char>('a' + i)),
                          {.reserved = 5 * kGiB, .allocated = 3 * kGiB, .device_allocs = 12345}));
    runs.back().metrics.recorded_ooms_served = 1;
  }
  for (const std::size_t width : {60u, 80u, 100u, 120u}) {
    std::istringstream lines(side_by_side({report_of(runs)}, {.width = width}));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST(CompareText, NoLineIsWiderThanAHundredColumns) {
  auto run = run_of("torch:" + std::string(60, 'x'), {.reserved = 5 * kGiB, .ooms = 12});
  run.metrics.first_oom = OomPlace{1234567, kGiB, kMiB, kKiB, 0};
  run.exact = false;
  const std::string text = side_by_side({report_of({run, run_of("recorded", {})})}, {});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 100u) << line;
}

TEST(ReplayText, AnEstimateIsMarkedAndHasItsInterval) {
  auto run = run_of("torch", {.reserved = 5210 * kMiB, .allocated = 4000 * kMiB});
  run.metrics.end_reserved = 300 * kMiB;
  run.interval = RunInterval{{4900 * kMiB, 5600 * kMiB}, {200 * kMiB, 400 * kMiB}};
  const std::string text = one_by_one({report_of({run})}, {});
  EXPECT_NE(text.find("peak ≈ 5210 MiB (4900 MiB to 5600 MiB); gap 1210 MiB\n"), std::string::npos);
  EXPECT_NE(text.find("at the end ≈ 300 MiB (200 MiB to 400 MiB)\n"), std::string::npos);
}

TEST(ReplayText, TheAnswerComesFirst) {
  TraceRuns report = report_of({run_of("torch", {.reserved = kMiB, .allocated = 512})});
  EXPECT_NE(one_by_one({report}, {}).find(" torch: fits a device without limit\n"),
            std::string::npos);
  report.runs[0].device.capacity = 100 * kMiB;
  report.runs[0].metrics.first_oom = OomPlace{373, kGiB, kMiB, kMiB, 0};
  EXPECT_NE(
      one_by_one({report}, {}).find(" torch: out of memory at event 373 on a device of 100 MiB"),
      std::string::npos);
}

TEST(ReplayText, WhatIsNoNumberIsADash) {
  auto run = run_of("torch", {});
  run.metrics.internal_fragmentation = std::nan("");
  run.metrics.external_fragmentation = INFINITY;
  const std::string text =
      one_by_one({report_of({run})}, {}) + side_by_side({report_of({run})}, {});
  EXPECT_NE(text.find("rounding - of what is allocated"), std::string::npos);
  EXPECT_EQ(text.find("nan"), std::string::npos);
  EXPECT_EQ(text.find("inf"), std::string::npos);
}

TEST(ReplayText, ColourChangesNoWord) {
  auto run = run_of("torch", {.ooms = 1});
  run.metrics.first_oom = OomPlace{1, kGiB, kMiB, kMiB, 0};
  std::string coloured = side_by_side({report_of({run})}, {.colour = true});
  const std::string plain = side_by_side({report_of({run})}, {});
  EXPECT_NE(coloured, plain);
  for (const char* code : {"\uFDD0", "\uFDD1", "\uFDD2"}) {
    for (std::size_t at; (at = coloured.find(code)) != std::string::npos;) {
      coloured.erase(at, std::string_view(code).size());
    }
  }
  EXPECT_EQ(coloured, plain);
}

TEST(ReplayText, SeveralTracesEndWithTheWorstAndTheSpread) {
  TraceRuns a = report_of({run_of("torch", {.reserved = 100 * kMiB})});
  TraceRuns b = report_of({run_of("torch", {.reserved = 300 * kMiB})});
  b.trace.path = "rank1.pickle";
  EXPECT_TRUE(one_by_one({a, b}, {})
                  .ends_with("\n Worst of 2 traces: rank1.pickle gpu 0. Peak reserved lies between "
                             "100 MiB and 300 MiB.\n"));
}

TEST(VerifyText, OneLineATrace) {
  VerifyRun exact;
  exact.allocs = exact.allocs_matched = 220;
  exact.segment_events = exact.segment_events_matched = 68;
  exact.verdict = Verdict::exact;
  TraceSummary trace;
  trace.path = "run.pickle";
  EXPECT_EQ(to_text(VerifyAnswer{.files = {{trace, {exact}}}}, {}),
            " exact       run.pickle gpu 0: 220 of 220 placements, 68 of 68 segment events\n");
}

TEST(ReplayText, ARunThatMovesBlocksDoesNotJustFit) {
  TraceRuns report;
  report.runs = {run_of("offload(torch)", {})};
  report.runs[0].metrics.moved_out_blocks = 1;
  report.runs[0].metrics.remarks = {"offload is a model"};
  const std::string text = one_by_one({report}, {});
  EXPECT_NE(text.find("without limit, but with 1 block (0 B) moved out"), std::string::npos)
      << text;
  EXPECT_NE(text.find("offload(torch): offload is a model."), std::string::npos) << text;
}

TEST(RunNumbers, EndWithTheIntervalWhereThereIsOne) {
  auto exact = run_of("recorded", {.reserved = 5});
  auto estimated = run_of("torch", {.reserved = 6});
  estimated.interval = {{4, 8}, {3, 7}};
  const Table table = to_table(ReplayAnswer{.traces = {report_of({exact, estimated})}});
  EXPECT_EQ(table.rows[0].size(), table.columns.size());
  EXPECT_EQ(table.rows[0].back(), "");
  EXPECT_EQ(std::vector(table.rows[1].end() - 4, table.rows[1].end()),
            (std::vector<std::string>{"4", "8", "3", "7"}));
}

}  // namespace
}  // namespace memreplay

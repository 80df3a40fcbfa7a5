#include "report/explain/explain.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace memreplay {
namespace {

// A device of 100 MiB, of which 10 belong to others, with 60 live of 80 reserved.
ExplainReport report_of(Cause cause, Bytes requested) {
  ExplainReport report;
  report.trace.path = "oom.pickle";
  report.streams = {0};
  report.pool_names = {"", "(0, 1)"};
  Explanation& e = report.explanation;
  e.cause = cause;
  e.at_oom = true;
  e.total = 100 * kMiB;
  e.room = 90 * kMiB;
  e.device_free = 10 * kMiB;
  e.reserved = 80 * kMiB;
  e.live_requested = e.live_allocated = 60 * kMiB;
  e.free_inside = 20 * kMiB;
  e.requested = e.asked = requested;
  e.pools = {{.pool = 0, .reserved = 60 * kMiB},
             {.pool = 1, .reserved = 20 * kMiB, .free = 8 * kMiB}};
  e.pins.pinned = 12 * kMiB;
  e.pins.by_place = {{"model.py:41 forward", 12 * kMiB, 2, 3, 7}};
  return report;
}

std::string first_line(const ExplainReport& report) {
  const std::string text = explain_text({report}, {});
  return text.substr(0, text.find("\n\n"));
}

TEST(ExplainReport, TheVerdictComesFirst) {
  EXPECT_EQ(first_line(report_of(Cause::fragmentation, 25 * kMiB)),
            "Fragmentation: the 25 MiB request would have fitted, with 5 MiB to spare.");
  EXPECT_EQ(first_line(report_of(Cause::outside, 35 * kMiB)),
            "Outside: the 35 MiB request would have fitted, did others not hold 10 MiB of the "
            "device.");
  EXPECT_EQ(first_line(report_of(Cause::shortage, 50 * kMiB)),
            "Shortage: what is live and the 50 MiB request together exceed the device by 20 MiB; "
            "no allocator\nsetting will help.");
}

TEST(ExplainReport, FindingsNameWhatWouldChangeThemMostBytesFirst) {
  const auto found = findings(report_of(Cause::fragmentation, 25 * kMiB));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].bytes, 12 * kMiB);
  EXPECT_NE(found[0].remedy.find("model.py:41 forward"), std::string::npos);
  EXPECT_EQ(found[1].bytes, 10 * kMiB);  // of others
  EXPECT_EQ(found[2].bytes, 8 * kMiB);   // in a private pool
}

TEST(ExplainReport, OfAShortageNoSettingIsNamed) {
  for (const Finding& finding : findings(report_of(Cause::shortage, 50 * kMiB))) {
    EXPECT_EQ(finding.remedy.find("expandable_segments"), std::string::npos);
  }
}

// A peak that a setting would lower to 60 MiB, of a recording that starts late.
ExplainReport advised(LateVerdict::Kind kind) {
  ExplainReport report = report_of(Cause::fragmentation, 0);
  report.explanation.at_oom = false;
  const auto reserving = [](Bytes reserved) {
    TuneOutcome outcome{{Setting{}}, {RunMetrics{}}, {""}};
    outcome.metrics[0].peak_reserved = reserved;
    return outcome;
  };
  report.tuned.emplace();
  report.tuned->baseline = "recorded";
  report.tuned->baseline_outcome = reserving(80 * kMiB);
  report.tuned->outcomes = {reserving(60 * kMiB)};
  report.tuned->helps = kind == LateVerdict::Kind::supported;
  report.late = {.kind = kind,
                 .best = {50 * kMiB, 75 * kMiB},
                 .baseline = {80 * kMiB, 80 * kMiB},
                 .setting = "expandable_segments:True"};
  return report;
}

TEST(ExplainReport, AdviceOfALateRecordingHasItsInterval) {
  EXPECT_EQ(advice(advised(LateVerdict::Kind::supported)),
            "Throughout, expandable_segments:True reserves 50 MiB to 75 MiB, recorded 80 MiB: less "
            "by the whole interval. Try: memreplay tune oom.pickle");
}

TEST(ExplainReport, WhereALateRecordingDoesNotTellNothingIsAdvised) {
  EXPECT_TRUE(advice(advised(LateVerdict::Kind::undecided))
                  .starts_with("Undecided: expandable_segments:True would reserve 50 MiB to 75 "));
  EXPECT_EQ(advice(advised(LateVerdict::Kind::nothing_better)), "");
}

TEST(ExplainReport, TheJsonHasVerdictAndEvent) {
  ExplainReport report = report_of(Cause::outside, 35 * kMiB);
  report.explanation.event = 7;
  const auto json = nlohmann::json::parse(explain_json({report}));
  EXPECT_EQ(json["command"], "explain");
  EXPECT_EQ(json["verdict"], "outside");
  EXPECT_EQ(json["event"], 7);
  EXPECT_EQ(json["pools"][1]["pool"], "(0, 1)");
  EXPECT_EQ(json["pins"][0]["pinned_bytes"], 12 * kMiB);
}

}  // namespace
}  // namespace memreplay

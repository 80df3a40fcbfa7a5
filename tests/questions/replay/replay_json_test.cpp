#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "metrics/metrics.hpp"
#include "questions/replay/replay_report.hpp"
#include "questions/verify/verify_report.hpp"
#include "support/runs.hpp"

namespace memreplay {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

Json parsed(std::vector<TraceRuns> reports) {
  return Json::parse(to_json(ReplayAnswer{.traces = reports}));
}

TraceRuns report_of(Run run) {
  TraceRuns report;
  report.runs.push_back(std::move(run));
  return report;
}

TEST(CompareJson, HasThePlanOrWhyThereIsNone) {
  TraceRuns report = report_of(run_of("torch", {}));
  const auto ranked = [&] {
    return Json::parse(to_json(ReplayAnswer{.traces = {report}, .ranked = true}));
  };
  EXPECT_TRUE(ranked()["planned"].is_null());
  report.planned = PlannedFloor{.height = 9, .lower_bound = 7, .found_by = "exact", .blocks = 2};
  EXPECT_EQ(ranked()["planned"],
            Json::parse(R"({"height_bytes": 9, "lower_bound_bytes": 7, "optimal": false,
                            "solver": "exact", "buffers": 2})"));
  EXPECT_TRUE(ranked()["planned_left_out"].is_null());
  report.planned->left_out_because = "too many";
  EXPECT_TRUE(ranked()["planned"].is_null());
  EXPECT_EQ(ranked()["planned_left_out"], "too many");
  EXPECT_FALSE(parsed({report}).contains("planned"));
}

TEST(ReplayJson, HoldsEveryMetricOfTheTableAndNoOther) {
  const std::set<std::string> about_the_run = {
      "strategy",        "gpu",     "place",    "exact", "finished",  "interval",
      "inexact_because", "remarks", "device",   "real",  "agreement", "as_recorded",
      "bound",           "cause",   "in_effect"};
  std::vector<std::string> shown;
  for (const std::string& key : keys(parsed({report_of(run_of("torch", {}))})["runs"][0])) {
    if (!about_the_run.contains(key)) shown.push_back(key);
  }
  std::vector<std::string> listed;
  for (const Metric& metric : metrics()) {
    if (metric.in_json) listed.emplace_back(metric.key);
  }
  EXPECT_EQ(shown, listed);
}

TEST(ReplayJson, HasEveryKeyInTheOrderOfTheSchema) {
  const Json json = parsed({report_of(run_of("torch", {}))});
  EXPECT_EQ(keys(json), (std::vector<std::string>{"schema", "command", "trace", "whole", "ends",
                                                  "starts", "device", "runs", "model_check",
                                                  "state_beyond_device", "runs_asked"}));
  EXPECT_EQ(
      keys(json["trace"]),
      (std::vector<std::string>{"path", "format", "gpu", "events", "allocs", "frees", "streams",
                                "pools", "duration_us", "coverage", "recorded", "growth"}));
  EXPECT_EQ(
      keys(json["trace"]["coverage"]),
      (std::vector<std::string>{"starts", "complete", "preexisting_blocks", "preexisting_bytes",
                                "dropped", "synthesised", "class", "largest_earlier_step",
                                "gapless", "full_ring_entries", "ends_early"}));
  EXPECT_EQ(keys(json["trace"]["recorded"]),
            (std::vector<std::string>{
                "settings", "settings_variable", "expandable_segments", "request_padding_bytes",
                "request_padding_range_bytes", "peak_requested_bytes", "peak_reserved_bytes",
                "end_reserved_bytes", "ooms", "pluggable_pools", "peak_requested_event",
                "peak_reserved_event", "oom_retries", "state"}));
  EXPECT_EQ(
      keys(json["device"]),
      (std::vector<std::string>{"kind", "name", "capacity_bytes", "capacity_from", "usable_bytes",
                                "context", "libraries", "others", "card", "set_aside_bytes",
                                "granularity_bytes", "address_policy", "as_given"}));
  EXPECT_EQ(keys(json["runs"][0]), (std::vector<std::string>{"strategy",
                                                             "gpu",
                                                             "place",
                                                             "exact",
                                                             "bound",
                                                             "inexact_because",
                                                             "as_recorded",
                                                             "finished",
                                                             "interval",
                                                             "peak_requested_bytes",
                                                             "peak_allocated_bytes",
                                                             "peak_reserved_bytes",
                                                             "gap_bytes",
                                                             "gap_at_peak_reserved_bytes",
                                                             "end_requested_bytes",
                                                             "end_allocated_bytes",
                                                             "end_reserved_bytes",
                                                             "internal_fragmentation",
                                                             "external_fragmentation",
                                                             "lower_bound_bytes",
                                                             "efficiency",
                                                             "ooms",
                                                             "oom_retries",
                                                             "first_oom",
                                                             "recorded_ooms_served",
                                                             "device_allocs",
                                                             "device_frees",
                                                             "device_maps",
                                                             "device_unmaps",
                                                             "syncs",
                                                             "stream_waits",
                                                             "segments_peak",
                                                             "segments_end",
                                                             "clairvoyant",
                                                             "moved_out_blocks",
                                                             "moved_out_bytes",
                                                             "timing",
                                                             "counters",
                                                             "cause",
                                                             "in_effect",
                                                             "remarks",
                                                             "device",
                                                             "real",
                                                             "agreement"}));
  EXPECT_EQ(keys(json["runs"][0]["timing"]),
            (std::vector<std::string>{"replay_seconds", "events_per_second",
                                      "modelled_device_seconds", "modelled_stall_seconds", "op_ns",
                                      "strategy_ns", "calls", "repeats"}));
}

TEST(ReplayJson, WhatIsUnknownIsNull) {
  const Json json = parsed({report_of(run_of("torch", {}))});
  EXPECT_TRUE(json["trace"]["duration_us"].is_null());
  EXPECT_TRUE(json["trace"]["recorded"]["settings"].is_null());
  EXPECT_TRUE(json["device"]["capacity_bytes"].is_null());
  EXPECT_TRUE(json["runs"][0]["first_oom"].is_null());
  EXPECT_TRUE(json["runs"][0]["interval"].is_null());
  EXPECT_TRUE(json["runs"][0]["timing"]["op_ns"].is_null());
  EXPECT_EQ(json["runs"][0]["counters"], Json::object());
}

TEST(ReplayJson, NumbersThatAreNoneAreNull) {
  auto run = run_of("torch", {});
  run.metrics.internal_fragmentation = std::nan("");
  run.metrics.external_fragmentation = INFINITY;
  const Json json = parsed({report_of(run)})["runs"][0];
  EXPECT_TRUE(json["internal_fragmentation"].is_null());
  EXPECT_TRUE(json["external_fragmentation"].is_null());
  EXPECT_TRUE(json["efficiency"].is_null());
  EXPECT_TRUE(json["timing"]["events_per_second"].is_null());
}

TEST(ReplayJson, CountersKeepTheirOrder) {
  auto run = run_of("torch", {});
  run.metrics.counters = {{"z", 1}, {"a", -2}};
  EXPECT_EQ(parsed({report_of(run)})["runs"][0]["counters"].dump(), R"({"z":1,"a":-2})");
}

TEST(ReplayJson, SeveralTracesBecomeResultsWithTheWorst) {
  const Json json = parsed(
      {report_of(run_of("torch", {.reserved = 1})), report_of(run_of("torch", {.reserved = 2}))});
  EXPECT_EQ(keys(json), (std::vector<std::string>{"schema", "command", "results", "worst"}));
  EXPECT_EQ(json["results"].size(), 2u);
  EXPECT_EQ(json["worst"], 1);
}

TEST(ReplayJson, APathThatIsNoUtf8DoesNotFail) {
  TraceRuns report = report_of(run_of("torch", {}));
  report.trace.path = "bad\xff";
  EXPECT_FALSE(to_json(ReplayAnswer{.traces = {report}}).empty());
}

TEST(VerifyJson, ADivergenceSaysWhereAndWhy) {
  VerifyRun run;
  run.verdict = Verdict::diverged;
  run.first_divergence = Divergence{7, "4096", "8192", "another block was nearer"};
  const Json json =
      Json::parse(to_json(VerifyAnswer{.files = {{TraceSummary{}, {run}}}}))["runs"][0];
  EXPECT_EQ(keys(json),
            (std::vector<std::string>{"gpu", "allocs", "allocs_matched", "segment_events",
                                      "segment_events_matched", "forced", "verdict", "reason",
                                      "first_divergence", "torch_version"}));
  EXPECT_TRUE(json["reason"].is_null());
  EXPECT_EQ(json["first_divergence"]["event"], 7);
}

}  // namespace
}  // namespace memreplay

#include "report/run/json.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "report/runs.hpp"

namespace memreplay {
namespace {

using Json = nlohmann::ordered_json;

std::vector<std::string> keys(const Json& object) {
  std::vector<std::string> names;
  for (const auto& [name, value] : object.items()) names.push_back(name);
  return names;
}

Json parsed(std::vector<ReplayReport> reports) {
  return Json::parse(replay_json("replay", reports));
}

ReplayReport report_of(RunReport run) {
  ReplayReport report;
  report.runs.push_back(std::move(run));
  return report;
}

TEST(ReplayJson, HasEveryKeyInTheOrderOfTheSchema) {
  const Json json = parsed({report_of(run_of("torch", {}))});
  EXPECT_EQ(keys(json), (std::vector<std::string>{"schema", "command", "trace", "device", "runs",
                                                  "model_check"}));
  EXPECT_EQ(keys(json["trace"]),
            (std::vector<std::string>{"path", "format", "gpu", "events", "allocs", "frees",
                                      "streams", "pools", "duration_us", "coverage", "recorded"}));
  EXPECT_EQ(
      keys(json["trace"]["coverage"]),
      (std::vector<std::string>{"starts", "complete", "preexisting_blocks", "preexisting_bytes",
                                "dropped", "synthesised", "class", "largest_earlier_step"}));
  EXPECT_EQ(keys(json["trace"]["recorded"]),
            (std::vector<std::string>{"settings", "settings_variable", "request_padding_bytes",
                                      "peak_requested_bytes", "peak_reserved_bytes",
                                      "end_reserved_bytes", "ooms"}));
  EXPECT_EQ(keys(json["device"]),
            (std::vector<std::string>{"kind", "name", "capacity_bytes", "granularity_bytes",
                                      "address_policy", "as_given"}));
  EXPECT_EQ(keys(json["runs"][0]), (std::vector<std::string>{"strategy",
                                                             "gpu",
                                                             "place",
                                                             "exact",
                                                             "inexact_because",
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
  RunReport run = run_of("torch", {});
  run.metrics.internal_fragmentation = std::nan("");
  run.metrics.external_fragmentation = INFINITY;
  const Json json = parsed({report_of(run)})["runs"][0];
  EXPECT_TRUE(json["internal_fragmentation"].is_null());
  EXPECT_TRUE(json["external_fragmentation"].is_null());
  EXPECT_TRUE(json["efficiency"].is_null());
  EXPECT_TRUE(json["timing"]["events_per_second"].is_null());
}

TEST(ReplayJson, CountersKeepTheirOrder) {
  RunReport run = run_of("torch", {});
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
  ReplayReport report = report_of(run_of("torch", {}));
  report.trace.path = "bad\xff";
  EXPECT_FALSE(replay_json("replay", {report}).empty());
}

TEST(VerifyJson, ADivergenceSaysWhereAndWhy) {
  VerifyRun run;
  run.verdict = "diverged";
  run.first_divergence = VerifyRun::Divergence{7, "4096", "8192", "another block was nearer"};
  const Json json = Json::parse(verify_json({{TraceSummary{}, {run}}}))["runs"][0];
  EXPECT_EQ(keys(json),
            (std::vector<std::string>{"gpu", "allocs", "allocs_matched", "segment_events",
                                      "segment_events_matched", "forced", "verdict", "reason",
                                      "first_divergence", "torch_version"}));
  EXPECT_TRUE(json["reason"].is_null());
  EXPECT_EQ(json["first_divergence"]["event"], 7);
}

}  // namespace
}  // namespace memreplay

#include "metrics/metrics.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"

namespace memreplay {
namespace {

TEST(Metrics, EachHasAKeyOfItsOwnAndAMeaning) {
  std::set<std::string_view> keys;
  for (const Metric& metric : metrics()) {
    EXPECT_TRUE(keys.insert(metric.key).second) << metric.key;
    EXPECT_FALSE(metric.meaning.empty()) << metric.key;
    EXPECT_EQ(metric.of == nullptr, metric.unit == Metric::Unit::parts) << metric.key;
    EXPECT_TRUE(metric.in_json || metric.in_csv) << metric.key;
    EXPECT_FALSE(metric.in_csv && metric.of == nullptr) << metric.key;
  }
}

TEST(Metrics, ARankInAnImportanceIsTakenOnce) {
  std::set<int> ranks;
  for (const CheckedMetric& metric : checked_metrics()) {
    EXPECT_TRUE(ranks.insert(metric.metric->check.rank).second) << metric.name;
  }
}

TEST(Metrics, ACheckTakesNumbersOfEveryRun) {
  for (const CheckedMetric& metric : checked_metrics()) EXPECT_EQ(metric.of({}), 0u) << metric.name;
}

TEST(Metrics, AGapBelowZeroIsSignedAndWithinEveryLimit) {
  const RunMetrics run{.peak_allocated = 10, .peak_reserved = 4};
  for (const Metric& metric : metrics()) {
    if (metric.key == "gap_bytes") {
      EXPECT_EQ(metric.of(run), MetricValue(std::int64_t{-6}));
    }
  }
  EXPECT_EQ(checked_metric("gap_bytes").of(run), 0u);
}

TEST(Metrics, RunsThatDifferInTimesAloneHaveTheSameFigures) {
  RunMetrics a{.peak_reserved = 4, .replay_seconds = 1};
  RunMetrics b{.peak_reserved = 4, .replay_seconds = 2};
  EXPECT_TRUE(same_figures(a, b));
  b.syncs = 1;
  EXPECT_FALSE(same_figures(a, b));
}

MetricValue value_of(std::string_view key, const RunMetrics& run) {
  for (const Metric& metric : metrics()) {
    if (metric.key == key) return metric.of(run);
  }
  ADD_FAILURE() << "no metric " << key;
  return {};
}

TEST(Metrics, EachIsTheMemberOfItsName) {
  const auto count = [](std::uint64_t RunMetrics::*member) {
    RunMetrics run;
    run.*member = 7;
    return run;
  };
  const std::vector<std::pair<std::string_view, std::uint64_t RunMetrics::*>> counts = {
      {"peak_requested_bytes", &RunMetrics::peak_requested},
      {"peak_allocated_bytes", &RunMetrics::peak_allocated},
      {"peak_reserved_bytes", &RunMetrics::peak_reserved},
      {"end_requested_bytes", &RunMetrics::end_requested},
      {"end_allocated_bytes", &RunMetrics::end_allocated},
      {"end_reserved_bytes", &RunMetrics::end_reserved},
      {"gap_at_peak_reserved_bytes", &RunMetrics::gap_at_peak_reserved},
      {"lower_bound_bytes", &RunMetrics::lower_bound},
      {"ooms", &RunMetrics::ooms},
      {"oom_retries", &RunMetrics::oom_retries},
      {"recorded_ooms_served", &RunMetrics::recorded_ooms_served},
      {"device_allocs", &RunMetrics::device_allocs},
      {"device_frees", &RunMetrics::device_frees},
      {"device_maps", &RunMetrics::device_maps},
      {"device_unmaps", &RunMetrics::device_unmaps},
      {"syncs", &RunMetrics::syncs},
      {"stream_waits", &RunMetrics::stream_waits},
      {"segments_peak", &RunMetrics::segments_peak},
      {"segments_end", &RunMetrics::segments_end},
      {"moved_out_blocks", &RunMetrics::moved_out_blocks},
      {"moved_out_bytes", &RunMetrics::moved_out}};
  for (const auto& [key, member] : counts) {
    EXPECT_EQ(value_of(key, count(member)), MetricValue(std::uint64_t{7})) << key;
    EXPECT_EQ(value_of(key, {}), MetricValue(std::uint64_t{0})) << key;
  }
  const std::vector<std::pair<std::string_view, double RunMetrics::*>> measures = {
      {"internal_fragmentation", &RunMetrics::internal_fragmentation},
      {"external_fragmentation", &RunMetrics::external_fragmentation},
      {"replay_seconds", &RunMetrics::replay_seconds},
      {"modelled_device_seconds", &RunMetrics::modelled_device_seconds},
      {"modelled_stall_seconds", &RunMetrics::stall_seconds}};
  for (const auto& [key, member] : measures) {
    RunMetrics run;
    run.*member = 0.25;
    EXPECT_EQ(value_of(key, run), MetricValue(0.25)) << key;
    EXPECT_EQ(value_of(key, {}), MetricValue(0.0)) << key;
  }
  EXPECT_EQ(value_of("clairvoyant", {.clairvoyant = true}), MetricValue(true));
  EXPECT_EQ(value_of("clairvoyant", {}), MetricValue(false));
}

TEST(Metrics, AnEfficiencyIsAShareOfWhatIsReserved) {
  EXPECT_EQ(value_of("efficiency", {.peak_requested = 3, .peak_reserved = 4}), MetricValue(0.75));
}

TEST(Metrics, WhereBlocksLeftTheDeviceThereIsNoEfficiency) {
  EXPECT_EQ(
      value_of("efficiency", {.peak_requested = 3, .peak_reserved = 4, .moved_out_blocks = 1}),
      MetricValue());
}

TEST(Metrics, WhatIsNoNumberHasNoValue) {
  EXPECT_EQ(value_of("efficiency", {}), MetricValue());
  EXPECT_EQ(value_of("replay_seconds", {.replay_seconds = std::numeric_limits<double>::infinity()}),
            MetricValue());
}

// Other programs read them: names are only ever added.
TEST(Metrics, TheCsvHasTheseColumns) {
  std::string columns;
  for (const Metric& metric : metrics()) {
    if (metric.in_csv) columns += std::string(metric.key) + ' ';
  }
  EXPECT_EQ(columns,
            "peak_requested_bytes peak_allocated_bytes peak_reserved_bytes gap_bytes "
            "end_requested_bytes end_allocated_bytes end_reserved_bytes lower_bound_bytes ooms "
            "oom_retries device_allocs device_frees device_maps device_unmaps replay_seconds "
            "modelled_device_seconds clairvoyant moved_out_blocks modelled_stall_seconds ");
}

TEST(Metrics, OnlyTimesStandOutsideOfTheJsonRowByRow) {
  for (const Metric& metric : metrics()) {
    EXPECT_EQ(metric.in_json, metric.unit != Metric::Unit::seconds) << metric.key;
  }
}

TEST(Metrics, AChecksMostImportantAreReservedAndMaxInUse) {
  std::string all;
  std::string by_default;
  for (const CheckedMetric& metric : checked_metrics()) {
    all += std::string(metric.name) + ' ';
    if (metric.by_default) by_default += std::string(metric.name) + ' ';
    EXPECT_EQ(metric.in_bytes, metric.name.ends_with("_bytes")) << metric.name;
  }
  EXPECT_EQ(all,
            "peak_reserved_bytes peak_allocated_bytes peak_requested_bytes gap_bytes "
            "end_reserved_bytes end_allocated_bytes end_requested_bytes ooms oom_retries "
            "device_allocs device_frees device_maps device_unmaps syncs stream_waits "
            "segments_peak segments_end ");
  EXPECT_EQ(by_default, "peak_reserved_bytes peak_allocated_bytes ");
}

TEST(Metrics, ACheckReadsTheRun) {
  EXPECT_EQ(checked_metric("ooms").of({.ooms = 3}), 3u);
  EXPECT_EQ(checked_metric("gap_bytes").of({.peak_allocated = 4, .peak_reserved = 10}), 6u);
}

TEST(Metrics, AnUnknownNameIsRefusedWithTheNearestKnown) {
  try {
    checked_metric("peak_reserved_byte");
    FAIL() << "taken";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("'peak_reserved_bytes'"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace memreplay

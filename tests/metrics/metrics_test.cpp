#include "metrics/metrics.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string_view>

#include "metrics/checked_metrics.hpp"

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

}  // namespace
}  // namespace memreplay

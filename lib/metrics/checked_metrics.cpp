#include "metrics/checked_metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

std::vector<CheckedMetric> in_order_of_importance() {
  std::vector<const Metric*> rows;
  for (const Metric& metric : metrics()) {
    if (!metric.check.word.empty()) rows.push_back(&metric);
  }
  std::ranges::sort(rows, {}, [](const Metric* metric) { return metric->check.rank; });
  std::vector<CheckedMetric> checked;
  for (const Metric* metric : rows) {
    checked.push_back({.name = metric->key,
                       .word = metric->check.word,
                       .in_bytes = metric->unit == Metric::Unit::bytes,
                       .by_default = metric->check.by_default,
                       .metric = metric});
  }
  return checked;
}

}  // namespace

std::uint64_t CheckedMetric::of(const RunMetrics& run) const {
  const MetricValue value = metric->of(run);
  if (const auto* difference = std::get_if<std::int64_t>(&value)) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, *difference));
  }
  return std::get<std::uint64_t>(value);
}

std::span<const CheckedMetric> checked_metrics() {
  static const std::vector<CheckedMetric> kMetrics = in_order_of_importance();
  return kMetrics;
}

const CheckedMetric& checked_metric(std::string_view name) {
  std::vector<std::string> names;
  for (const CheckedMetric& metric : checked_metrics()) {
    if (metric.name == name) return metric;
    names.emplace_back(metric.name);
  }
  throw UsageError(fmt::format("unknown metric '{}'{} (a check takes {})", name,
                               did_you_mean(name, names), fmt::join(names, ", ")));
}

}  // namespace memreplay

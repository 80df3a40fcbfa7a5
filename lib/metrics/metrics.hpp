#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <variant>

#include "metrics/run_metrics.hpp"

namespace memreplay {

/// The value of a metric. Unset where the run has none, or none that is a number.
using MetricValue = std::variant<std::monostate, std::uint64_t, std::int64_t, double, bool>;

/// A quantity of a run. One row of metrics.cpp decides how it is called, what it means, where it is
/// shown and whether a check may hold it to a limit: the JSON, the CSV, `list metrics`, `check` and
/// the outcomes of `tune` read the rows.
struct Metric {
  enum class Unit { bytes, times, share, seconds, flag, parts };

  std::string_view key;   ///< in the JSON, or in the CSV alone where it is part of `timing` there
  std::string_view word;  ///< on screen; empty: not shown by itself
  Unit unit = Unit::times;
  std::string_view meaning;
  /// Null for what consists of parts (`first_oom`, `timing`, `counters`).
  MetricValue (*of)(const RunMetrics&) = nullptr;
  bool in_json = true;
  bool in_csv = false;

  /// What a check says of it; only of quantities of which less is always better.
  struct Check {
    std::string_view word;    ///< empty: no check takes it
    int rank = 0;             ///< the most important first
    bool by_default = false;  ///< kept where nobody chooses
  };
  Check check = {};
};

/// Every metric, in the order of the JSON.
std::span<const Metric> metrics();

/// Whether two runs have the same figures, times aside. What consists of parts does not count.
bool same_figures(const RunMetrics& a, const RunMetrics& b);

/// A metric of which less is always better, so that a limit means something.
struct CheckedMetric {
  std::string_view name;  ///< its key in the JSON of a run
  std::string_view word;  ///< on screen
  bool in_bytes = true;   ///< or times
  bool by_default = false;
  const Metric* metric = nullptr;

  /// The value in a run; 0 where it would be negative.
  std::uint64_t of(const RunMetrics& run) const;
};

/// The rows of `metrics()` that a check takes, the most important first.
std::span<const CheckedMetric> checked_metrics();

/// Throws UsageError with the nearest name.
const CheckedMetric& checked_metric(std::string_view name);

}  // namespace memreplay

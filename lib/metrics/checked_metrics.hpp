#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "metrics/metrics.hpp"

namespace memreplay {

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

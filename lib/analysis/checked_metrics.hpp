#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "metrics/run_metrics.hpp"

namespace memreplay {

/// A quantity of a run of which less is always better, so that a limit means something.
struct CheckedMetric {
  std::string_view name;  ///< its key in the JSON of a run
  std::string_view word;  ///< on screen
  bool in_bytes = true;   ///< or times
  bool by_default = false;
  std::uint64_t (*of)(const RunMetrics&);
};

/// All of them, the most important first.
std::span<const CheckedMetric> checked_metrics();

/// Throws UsageError with the nearest name.
const CheckedMetric& checked_metric(std::string_view name);

}  // namespace memreplay

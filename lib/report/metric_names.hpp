#pragma once

#include <span>
#include <string_view>

namespace memreplay {

/// A quantity of the reports: its key in the JSON and what it means.
struct MetricName {
  std::string_view key;
  std::string_view word;  ///< on screen; empty: only in the JSON
  std::string_view meaning;
};

std::span<const MetricName> metric_names();

}  // namespace memreplay

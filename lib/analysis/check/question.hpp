#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/check/answer.hpp"
#include "analysis/recorded/inputs.hpp"

namespace memreplay {

/// Did recordings get worse than their baseline says, or what is it to say of them from now on?
struct CheckQuestion {
  struct Metric {
    const CheckedMetric* metric = nullptr;
    std::optional<Tolerance> tolerance;  ///< unset: as it was; only for an update
  };
  std::string baseline;                      ///< its path: for messages, and for the answer
  std::vector<std::string> strategies;       ///< empty: those of the baseline
  std::optional<std::string> torch_version;  ///< only for an update; unset: as it was
  /// Only for an update; unset: as it was, and for a new entry that of a recorded failure.
  std::optional<Bytes> capacity;
  bool endless = false;                   ///< only for an update: on a device without limit
  std::optional<FromBefore> from_before;  ///< only for an update; unset: as it was, else counted
  struct Budget {
    const CheckedMetric* metric = nullptr;
    std::uint64_t most = 0;
  };
  std::vector<Budget> budgets;  ///< only for a check: limits beside the tolerances
  std::vector<Metric> metrics;  ///< what an update keeps, or tolerances that hold for this once
  std::optional<Tolerance> tolerance;  ///< for all metrics; unset: each its own
};

}  // namespace memreplay

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/check/check.hpp"
#include "inputs.hpp"

namespace memreplay {

struct CheckOptions {
  std::string baseline;  ///< path
  bool update = false;
  std::vector<std::string> strategies;       ///< empty: those of the baseline
  std::optional<std::string> torch_version;  ///< with `update` only, and so are these:
  std::optional<Bytes> capacity;
  struct Metric {
    const CheckedMetric* metric = nullptr;
    std::optional<Tolerance> tolerance;
  };
  std::vector<Metric> metrics;
  std::optional<Tolerance> tolerance;
};

/// A number of bytes means nothing for what is counted. Throws UsageError.
void refuse_size_of_times(const CheckedMetric& metric, const std::optional<Tolerance>& tolerance);

/// What is to be replayed for one device of a recording.
struct CheckPlan {
  Chosen chosen;
  std::vector<BaselineEntry> entries;
};

/// The entries of the baseline for what was named on the command line, with the tolerances of the
/// options. Throws InputError where one has none.
std::vector<CheckPlan> plan_check(const Inputs& inputs, const Baseline& baseline,
                                  const CheckOptions& options);

/// The same for an update: entries that the baseline lacks are made, metrics and tolerances that it
/// has stay.
std::vector<CheckPlan> plan_update(const Inputs& inputs, const Baseline& baseline,
                                   const CheckOptions& options);

}  // namespace memreplay

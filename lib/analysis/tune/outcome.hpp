#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/tune/setting.hpp"
#include "metrics/run_metrics.hpp"
#include "replay/replay.hpp"

namespace memreplay {

enum class Objective { reserved, calls, retries };

/// What one setting, and all that are like it, came to on every trace.
struct TuneOutcome {
  std::vector<Setting> settings;             ///< all tried that give it, the simplest first
  std::vector<RunMetrics> metrics;           ///< by trace
  std::vector<std::string> inexact_because;  ///< by trace; empty: exact
  bool pareto = false;  ///< nothing tried is better in one respect and not worse in another

  /// Over all traces: OOMs, retries and device calls add up, of the reserved peaks the highest.
  RunSoFar total() const;
};

/// Sorts by OOMs first, since who serves less needs less; then by the objective, then by the others
/// of reserved peak, retries and device calls; then by simplicity.
bool better(const TuneOutcome& a, const TuneOutcome& b, Objective objective);

/// `a` is nowhere worse than `b`, and not the same.
bool dominates(const RunSoFar& a, const RunSoFar& b);

/// The same in every figure that a report shows, times and counters aside.
bool same_figures(const TuneOutcome& a, const TuneOutcome& b);

/// Sets `pareto` of every outcome. O(outcomes²).
void mark_pareto_front(std::vector<TuneOutcome>& outcomes);

}  // namespace memreplay

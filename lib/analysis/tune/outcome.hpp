#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/tune/setting.hpp"
#include "metrics/run_interval.hpp"
#include "metrics/run_metrics.hpp"
#include "replay/replay.hpp"

namespace memreplay {

enum class Objective { reserved, calls, retries };

/// What is said of a trace that starts late beside the figures that were estimated.
struct LateFigures {
  RunInterval interval;
  bool fits = true;  ///< neither it nor the steps before it ran out of memory
};

/// What one setting, and all that are like it, came to on every trace.
struct TuneOutcome {
  std::vector<Setting> settings;             ///< all tried that give it, the simplest first
  std::vector<RunMetrics> metrics;           ///< by trace
  std::vector<std::string> inexact_because;  ///< by trace; empty: exact
  bool pareto = false;  ///< nothing tried is better in one respect and not worse in another
  /// By trace: what came before it may have led to other figures than its replay gave.
  std::vector<bool> start_matters = {};
  /// By trace, of the first setting. Reserved bytes and retries among its metrics are then
  /// estimates. Nothing where its start does not matter; empty: nothing was estimated.
  std::vector<std::optional<LateFigures>> late = {};

  /// Over all traces: OOMs, retries and device calls add up, of the reserved peaks the highest.
  RunSoFar total() const;
  /// Some of its figures are estimates with an interval.
  bool estimated() const;
  /// Of the highest reserved peak; its ends are the same where nothing was estimated.
  BytesInterval peak_interval() const;
  /// No trace runs out of memory, as far as is known.
  bool serves() const;
};

/// Sorts by OOMs first, since who serves less needs less; then by the objective, then by the others
/// of reserved peak, retries and device calls; then by simplicity.
bool better(const TuneOutcome& a, const TuneOutcome& b, Objective objective);

/// `run` serves as much as `least`, and comes within a hundredth of it by the objective.
bool comes_near(const RunSoFar& run, const RunSoFar& least, Objective objective);

/// `a` is nowhere worse than `b`, and not the same.
bool dominates(const RunSoFar& a, const RunSoFar& b);

/// The same in every figure that a report shows, times and counters aside.
bool same_figures(const TuneOutcome& a, const TuneOutcome& b);

/// Sets `pareto` of every outcome. O(outcomes²).
void mark_pareto_front(std::vector<TuneOutcome>& outcomes);

}  // namespace memreplay

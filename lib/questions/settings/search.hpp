#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "questions/settings/experiment.hpp"
#include "questions/settings/outcome.hpp"
#include "questions/settings/result.hpp"
#include "questions/settings/setting.hpp"

namespace memreplay {

struct TuneOptions {
  Bench bench;                           ///< at least one trace
  std::optional<StrategySpec> strategy;  ///< as TuneQuestion has it
  std::optional<Objective> objective;    ///< unset: as TuneQuestion has it
  std::set<std::string> forbidden;       ///< options that keep their default
  /// Empty: that of the first recording, as far as it shows it, else the newest.
  std::string release;
  std::uint64_t runs = 1000;      ///< settings to try
  std::optional<double> seconds;  ///< no batch is begun after them
  /// Events that estimates for recordings which start late may replay, see weigh_late_recordings.
  std::uint64_t late_events = 500'000'000;
  unsigned threads = 1;
  ReplayOptions replaying;               ///< `cancelled` ends the search with what it found
  std::function<void(double)> progress;  ///< share of the budget used
};

/// How many settings to try where nobody says: longer recordings get fewer, so that a search ends
/// within minutes.
std::uint64_t default_runs(const Bench& bench);

/// Searches the settings of PyTorch's allocator for what these traces need, one setting for all of
/// them. In turn, as far as the budget goes: 1. every option alone, and for max_split_size_mb every
/// value at which anything changes, since a replay tells which other limits would have decided the
/// same throughout; 2. from the best so far on, every value of each option and other roundings for
/// each class of sizes, until nothing improves it; 3. combinations of all these values, those that
/// were good alone first; then 2 again. From 2 on a replay is ended as soon as another setting is
/// better in every respect. What is tried does not depend on the number of threads. O(events) per
/// replay.
TuneResult tune(const TuneOptions& options);

/// The number of the outcome, or of an earlier one with the same figures. O(outcomes).
std::size_t add_outcome(TuneOutcome outcome, TuneResult& result);

/// Ranks what was tried, at least one, and says what to recommend.
void conclude(const TuneOptions& options, TuneResult& result);

/// Sets `none_serves` by what the runs came to.
void note_whether_any_serves(TuneResult& result);

/// Tries what `options.strategy` registers as settings to try, the simplest first, beside the
/// options that it comes with, until the budget is used. One replay each, O(events).
TuneResult tune_listed(const TuneOptions& options);

/// The line that sets what is recommended in the original of a listed strategy.
std::string line_as_set(const TuneResult& result);

/// The options that a search over this strategy (unset: PyTorch's) varies. Throws UsageError where
/// it registers no settings to try.
std::vector<std::string> options_to_vary(const std::optional<StrategySpec>& strategy);

/// Estimates, where recordings start late and the objective looks at reserved bytes, what the
/// baseline and the outcomes of a search come to: by rank, as far as `late_events` go, but what was
/// recommended and six more in any case, and no more where the search has a limit in seconds. What
/// is estimated or exact is ranked by that, before what is not. Settings that are alike in a replay
/// are apart where the recording determines what only some of them come to. `result` then
/// recommends the simplest within a hundredth of the best among those that the verdict supports;
/// where there is none, `best` is the likeliest one. Costs some ten replays of each late recording
/// for an outcome.
LateVerdict weigh_late_recordings(const TuneOptions& options, TuneResult& result);

}  // namespace memreplay

#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>

#include "analysis/tune/answer.hpp"
#include "analysis/tune/experiment.hpp"
#include "analysis/tune/outcome.hpp"
#include "analysis/tune/setting.hpp"

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

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "analysis/fit/answer.hpp"
#include "replay/trial.hpp"

namespace memreplay {

struct FitOptions {
  /// Its capacity, where there is one, is a device on which the recording is to run.
  TrialOptions trial;
  ReplayOptions replaying;  ///< all of the recording is measured: `from` is 0
  /// Events that the search may replay, and some for each replay. What it found by then is the
  /// answer.
  std::uint64_t budget = 400'000'000;
  /// So much is known to suffice beside what others hold, without a retry: nothing from there on is
  /// tried.
  std::optional<Bytes> enough = {};
  /// Called before each replay: the size of the device, unset without limit, and the share of the
  /// budget that is spent.
  std::function<void(std::optional<Bytes>, double)> trying = {};
};

/// What a search found, and the replay on the smallest device.
struct FoundFit {
  Fit fit;
  /// Unset where there is no smallest device, or it was known beforehand to suffice.
  std::optional<ReplayResult> there;
};

/// Bisects for a device that fits, then tries what is smaller, upward, and larger ones as far as
/// the budget goes. A replay stands for all capacities that would have answered every call alike,
/// so each distinct outcome is replayed once; a strategy that asks for the size of the device is
/// tried granule by granule. Throws UsageError where the strategy cannot be made.
FoundFit fit(const Subject& subject, const StrategySpec& spec, const FitOptions& options);

/// Whether the recording runs without an OOM on the device in `trial`; unset where cancelled.
std::optional<GivenDevice> runs_on(const Subject& subject, const StrategySpec& spec,
                                   const FitOptions& options);

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "replay/trial.hpp"

namespace memreplay {

struct FitOptions {
  /// Its capacity, where there is one, is a device on which the recording is to run.
  TrialOptions trial;
  ReplayOptions replaying;  ///< all of the recording is measured: `from` is 0
  /// Events that the search may replay, and some for each replay. What it found by then is the
  /// answer.
  std::uint64_t budget = 400'000'000;
  /// Called before each replay: the size of the device, nothing without limit, and the share of the
  /// budget that is spent.
  std::function<void(std::optional<Bytes>, double)> trying = {};
};

/// The device of which one was asked.
struct GivenDevice {
  bool fits = false;
  /// The first request not served; nothing where the strategy has no room to begin.
  std::optional<OomPlace> first_oom;
};

/// On which devices a recording runs under one strategy without an OOM. Capacities are totals, so
/// what others hold is in them, and are whole granules of the device.
struct Fit {
  /// Nothing: on no device, see `first_oom`, or the search was cancelled before it found one.
  std::optional<Bytes> smallest;
  std::optional<Bytes> smallest_without_retries;  ///< the same without OOM retries
  /// How the recording runs is known for every capacity below; nothing: for every capacity.
  std::optional<Bytes> known_below;
  /// The largest capacity known to be too small although `smallest` is not.
  std::optional<Bytes> fails_again;
  /// A smaller device could not have held what was there before the recording; how it would have
  /// begun on one is not in it.
  bool bounded_by_start = false;
  std::optional<ReplayResult> there;  ///< on the smallest device
  std::optional<OomPlace> first_oom;  ///< on a device without limit
  std::optional<GivenDevice> given;
  std::uint64_t replays = 0;
  bool finished = true;  ///< false: cancelled, and this is what was known then

  bool proven_smallest() const { return known(smallest) && !bounded_by_start; }
  bool proven_without_retries() const { return known(smallest_without_retries); }

 private:
  bool known(std::optional<Bytes> capacity) const {
    return capacity && (!known_below || *capacity < *known_below);
  }
};

/// Bisects for a device that fits, then tries what is smaller, upward, and larger ones as far as
/// the budget goes. A replay stands for all capacities that would have answered every call alike,
/// so each distinct outcome is replayed once; a strategy that asks for the size of the device is
/// tried granule by granule. Throws UsageError where the strategy cannot be made.
Fit fit(const Subject& subject, const StrategySpec& spec, const FitOptions& options);

/// Whether the recording runs without an OOM on the device in `trial`; nothing where cancelled.
std::optional<GivenDevice> runs_on(const Subject& subject, const StrategySpec& spec,
                                   const FitOptions& options);

}  // namespace memreplay

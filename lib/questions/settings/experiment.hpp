#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "device/simulated_device.hpp"
#include "questions/settings/outcome.hpp"
#include "questions/settings/setting.hpp"
#include "replay/replay.hpp"
#include "strategy/torch/allocator.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// Limits in (low, high] that decide alike.
struct Gap {
  Bytes low = 0;
  Bytes high = UINT64_MAX;

  bool holds(Bytes limit) const { return low < limit && limit <= high; }
  void narrow(const torch::WatchedLimit& limit);
};

/// A limit of a setting, in MiB.
using Limit = std::uint64_t Setting::*;
inline constexpr Limit kSplitLimit = &Setting::max_split_size_mb;
inline constexpr Limit kRoundingLimit = &Setting::max_non_split_rounding_mb;
/// Values of a limit: [first, second).
using Values = std::pair<std::uint64_t, std::uint64_t>;

/// What a replay showed, for every setting with the same other options and limits in these gaps.
struct Known {
  Gap split;
  Gap rounding;
  /// large_segment_size; unset: any other one would have done the same.
  std::optional<Bytes> large_segment;
  std::optional<std::size_t> outcome;  ///< its number; unset: given up

  /// One more replay of it decided like that.
  void narrow(const torch::Allocator& replayed);
  const Gap& gap(Limit limit) const { return limit == kSplitLimit ? split : rounding; }
  bool holds(Bytes large_segment_size) const {
    return !large_segment || *large_segment == large_segment_size;
  }
};

/// What is known of settings without a replay of their own.
class KnownReplays {
 public:
  explicit KnownReplays(SettingSpace& space) : space_(space) {}

  void add(const Setting& setting, const Known& known);
  /// Settings for which this is the same are likely to be told by one replay.
  Setting kind_of(const Setting& setting) const;
  /// Null where a replay is needed. Holds until the next `add`.
  const Known* find(const Setting& setting) const;
  /// Values of the limit from `from` to `highest` for which nothing is known beside the other
  /// options of `base`, ascending.
  std::vector<Values> unknown(const Setting& base, Limit limit, std::uint64_t from,
                              std::uint64_t highest) const;

 private:
  Setting key_of(const Setting& setting) const;

  SettingSpace& space_;
  std::map<Setting, std::vector<Known>> replays_;  ///< by canonical setting without what Known has
};

/// The traces on which a setting is tried, each with its device.
struct Bench {
  std::vector<const Subject*> subjects;
  std::vector<SimulatedDeviceOptions> devices;
  std::vector<bool> assumed_size;  ///< the device's capacity is a guess
  std::vector<bool> unknown_size;  ///< see SizedDevice; empty: no device
};

/// One strategy tried on all of them.
struct Experiment {
  TuneOutcome outcome;    ///< its settings are left empty
  Known shown;            ///< without the number of its outcome
  bool given_up = false;  ///< something in `front` is better in every respect
  bool cancelled = false;
};

/// Ends early as soon as one of `front` dominates what it came to so far. O(events).
Experiment try_on(const Bench& bench, const StrategySpec& spec, ReplayOptions replaying,
                  const std::vector<RunSoFar>& front);

}  // namespace memreplay

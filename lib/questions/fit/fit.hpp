#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "program/libraries.hpp"
#include "questions/fit/answer.hpp"
#include "replay/trial.hpp"
#include "run/inputs.hpp"
#include "run/setup.hpp"

namespace memreplay {

struct FitOptions {
  /// All of the recording is measured. The capacity of its device, where there is one, is that of
  /// one on which the recording is to run.
  ReplayOptions replaying;
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

/// Whether the recording runs without an OOM on the device of the options; unset where cancelled.
std::optional<GivenDevice> runs_on(const Subject& subject, const StrategySpec& spec,
                                   const FitOptions& options);

/// How small may a device be, and does a recording fit this one?
struct FitQuestion {
  std::vector<StrategySpec> strategies;  ///< empty: that of the recording
  Setup setup;
  /// One stands for the capacity of the device, several for a row each; where no reserve is given,
  /// the context is one.
  std::vector<ChosenCard> cards;
  std::uint64_t budget = FitOptions().budget;  ///< events that each search may replay
};

/// "rtx 4090", "4090", "a100", or what the driver calls it, "NVIDIA A100-SXM4-80GB": a whole name,
/// else its words, else a part of it. The most usual one is taken of several. Throws UsageError
/// with the nearest name.
ChosenCard card_named(const std::string& name);

/// The processes of a recording, one of each, as what they have of a card beside their allocators
/// goes by. O(events).
std::vector<CardTraits> processes_of(const Subject& recorded);

/// Whether the recording runs on a card, surely and by all that may be left of it; unset where
/// cancelled.
std::optional<GivenDevice> runs_on_card(const Subject& subject, const StrategySpec& spec,
                                        FitOptions options, const Card& card,
                                        const SetAside& aside);

/// The smallest cards, at most `count`, on which the recording surely runs without an OOM, with
/// what is set aside on each. None that leaves less than `least` is tried. Cancelled: those found
/// so far.
std::vector<SufficingCard> cards_that_fit(const Subject& subject, const StrategySpec& spec,
                                          const FitOptions& options,
                                          const std::function<SetAside(const Card&)>& aside_on,
                                          Bytes least, std::size_t count);

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/card.hpp"
#include "run/answer.hpp"

namespace memreplay {

struct Control;
struct FitQuestion;
class Inputs;

/// The device of which one was asked.
struct GivenDevice {
  bool fits = false;
  bool may_fit = false;  ///< it is not known what of the device others have
  /// The first request not served; unset where the strategy has no room to begin.
  std::optional<OomPlace> first_oom;
};

/// On which devices a recording runs under one strategy without an OOM. Capacities are totals, so
/// what others hold is in them, and are whole granules of the device.
struct Fit {
  /// Unset: no device suffices, see `first_oom`, or the search was cancelled before it found one.
  std::optional<Bytes> smallest;
  std::optional<Bytes> smallest_without_retries;  ///< the same without OOM retries
  /// How the recording runs is known for every capacity below; unset: for every capacity.
  std::optional<Bytes> known_below;
  /// The largest capacity known to be too small although `smallest` is not.
  std::optional<Bytes> fails_again;
  /// A smaller device could not have held what was there before the recording; how it would have
  /// begun on one is not in it.
  bool bounded_by_start = false;
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

/// What a name was taken for.
struct ChosenCard {
  std::string as_given;
  Card card;
  std::vector<std::string_view> others;  ///< that it may mean as well
};

/// What one strategy needs.
struct FitRun {
  Fit fit;
  /// The range of the smallest device, where the recording starts late and does not determine it.
  std::optional<BytesInterval> interval;
  Run there;  ///< on the smallest device; only its name is set where there is none
};

/// A card on which a run fits, whatever is set aside there.
struct SufficingCard {
  Card card;
  SetAside set_aside;
};

/// One of several cards: whether each strategy runs there.
struct FittedCard {
  Card card;
  SetAside set_aside;
  std::vector<std::optional<GivenDevice>> runs;  ///< by strategy; unset: cancelled
};

/// One device of a recording: the smallest device for each strategy.
struct FittedDevice {
  TraceSummary trace;
  DeviceSummary device;  ///< its capacity is the device that was asked for
  std::optional<StateBeyondDevice> state_beyond;
  Bytes reserve = 0;  ///< held by others, in every capacity
  /// The reserve, with the bounds of all cards that were asked for; unset: none was.
  std::optional<SetAside> set_aside;
  bool nothing_requested = false;  ///< no device was looked for
  /// What was fitted has the rest of the step at whose OOM the recording ends.
  bool completed = false;
  std::vector<FitRun> runs;
  std::optional<VerifyRun> model_check;
  /// Cards on which the best strategy surely runs; unset: not looked for.
  std::optional<std::vector<SufficingCard>> cards;
  std::vector<FittedCard> asked_cards;  ///< where several were asked for

  /// The run that needs the smallest device, among those that move no blocks away if there are any;
  /// null where none fits.
  const FitRun* best() const;
  /// Some of what that run holds is, or may be, returned for a while: it bounds no device from
  /// below.
  bool sleeps(const FitRun& run) const {
    return !run.there.metrics.sleeps.empty() || !trace.pluggable_pools.empty();
  }
  /// Sizes are lower bounds: the recording ends early.
  bool at_least() const { return trace.early_end && !completed; }
  /// Whether a run fits a device of that capacity; unset: what is recorded does, and the rest of
  /// the program may not.
  std::optional<bool> known_to_fit(const FitRun& run, const GivenDevice& given,
                                   Bytes capacity) const;
};

/// How small a device may be for recordings.
struct FitAnswer {
  std::vector<FittedDevice> devices;
  std::vector<ChosenCard> cards;  ///< asked for
  bool interrupted = false;       ///< there would have been more

  bool all_fit() const;  ///< every run, see FitRun::fits, and on every card, for all that is known
};

/// Searches the smallest device of every recording for every strategy, and the cards that suffice
/// for the best of them. Throws UsageError where a strategy cannot be made.
FitAnswer answer(const Inputs& inputs, const FitQuestion& question, const Control& control);

}  // namespace memreplay

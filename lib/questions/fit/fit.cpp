#include "questions/fit/fit.hpp"

#include <algorithm>
#include <map>

#include "core/error.hpp"

namespace memreplay {
namespace {

constexpr Bytes kEndless = UINT64_MAX;
constexpr Bytes kLargestDevice = Bytes{1} << 60;  // the largest device that is tried
/// What a replay costs beside its events, in events.
constexpr std::uint64_t kEventsOfReplay = 500;
/// Likewise, for each pair of a stream and a pool: an allocator has free lists of each.
constexpr std::uint64_t kCostOfLane = 100;
/// One part in so many of the budget is for the sizes above the smallest one.
constexpr std::uint64_t kShareForLarger = 8;
/// How far above the smallest one every granule is worth a replay of its own.
constexpr Bytes kFarAbove = 2;

/// How one replay ended, and for which capacities others end alike.
struct Outcome {
  Bytes from = 0;
  Bytes to = kEndless;
  bool fits = false;
  std::uint64_t retries = 0;
  bool no_room_at_start = false;  ///< for what was there before the recording
  bool alone = false;  ///< the size of the device was asked for: this holds for one granule
};

class Search {
 public:
  Search(const Subject& subject, const StrategySpec& spec, const FitOptions& options)
      : options_(options),
        contender_(subject, spec, options.replaying.program),
        branches_(contender_, replaying(options)) {
    if (options_.enough) {
      const Bytes enough = with_others(*options_.enough);
      known_[enough] = {.from = enough, .fits = true};
    }
  }

  FoundFit run() {
    const std::optional<Bytes> capacity = options_.replaying.device.capacity;
    const bool fits_somewhere = look_without_limit();
    if (capacity && fit_.finished) fit_.given = ask(*capacity);
    if (!fits_somewhere || !find_any()) return found();
    bisect();
    const std::uint64_t left = options_.budget - std::min(options_.budget, spent_);
    if (prove_smallest()) {
      options_.budget = spent_ + std::min(left, options_.budget / kShareForLarger);
      look_at_larger();
    }
    conclude();
    return found();
  }

  std::optional<GivenDevice> ask(Bytes capacity) {
    if (suffices(capacity)) return GivenDevice{.fits = true, .first_oom = {}};
    try {
      const std::optional<Attempt> attempt = replay_on(capacity);
      if (!attempt) return std::nullopt;
      return GivenDevice{.fits = attempt->fits, .first_oom = attempt->result.metrics.first_oom};
    } catch (const UsageError&) {  // the strategy cannot be made on so small a device
      return GivenDevice{};
    }
  }

 private:
  struct Attempt {
    ReplayResult result;
    bool fits = false;
    bool asked_for_size = false;
    bool moves_blocks = false;  ///< out of the device
    bool sleeps = false;        ///< some of its memory is returned for a while
    bool lacks_at_wake = false;
    Bytes peak_held = 0;  ///< and not asleep
    std::optional<Bytes> least_refused;
  };

  static ReplayOptions replaying(const FitOptions& options) {
    ReplayOptions replaying = options.replaying;
    replaying.stops.at_oom = true;
    replaying.measuring.from = 0;
    // The capacity decides over refusals, not the recording.
    replaying.device.like_recorded =
        std::min(replaying.device.like_recorded, LikeRecorded::addresses);
    return replaying;
  }

  FoundFit found() { return {std::move(fit_), std::move(there_)}; }

  Bytes granule() const { return options_.replaying.device.granularity; }
  Bytes with_others(Bytes held) const {
    return round_up(held + options_.replaying.device.reserve, granule());
  }

  bool suffices(Bytes capacity) const {
    return options_.enough && with_others(*options_.enough) <= capacity;
  }

  /// Unset where the replay was cancelled.
  std::optional<Attempt> replay_on(std::optional<Bytes> capacity) {
    if (options_.trying) {
      options_.trying(
          capacity,
          std::min(1.0, static_cast<double>(spent_) /
                            static_cast<double>(std::max<std::uint64_t>(options_.budget, 1))));
    }
    spent_ += kEventsOfReplay + kCostOfLane * contender_.subject().trace().lanes.size();
    Attempt attempt;
    auto [result, trial] = branches_.replay_on(capacity);
    attempt.result = std::move(result);
    ++fit_.replays;
    const RunMetrics& m = attempt.result.metrics;
    spent_ += m.events;
    if (!attempt.result.finished && m.ooms == 0) {
      fit_.finished = false;
      return std::nullopt;
    }
    const CapacityWatch& watch = *trial->watch();
    attempt.peak_held = watch.usage().peak_awake;
    attempt.least_refused = watch.least_refused();
    attempt.sleeps = !m.sleeps.empty() || (options_.replaying.sleeps_unseen &&
                                           !contender_.subject().pluggable_pools().empty());
    attempt.lacks_at_wake =
        std::ranges::any_of(m.sleeps, [](const PoolSleep& sleep) { return sleep.missing > 0; });
    attempt.moves_blocks = trial->strategy().usage().moves_blocks();
    attempt.asked_for_size = watch.asked_for_size();
    const Bytes whole = capacity.value_or(kEndless);
    const Bytes room = whole - std::min(options_.replaying.device.reserve, whole);
    // The device may already have been too small for what was there before the recording.
    attempt.fits = m.ooms == 0 && attempt.result.refused_before == 0 && attempt.peak_held <= room;
    return attempt;
  }

  /// The capacities for which the replay would have been the same.
  Outcome outcome_of(const Attempt& attempt, Bytes capacity) const {
    Outcome outcome{.fits = attempt.fits,
                    .retries = attempt.result.metrics.oom_retries,
                    .alone = attempt.asked_for_size};
    const Bytes needed = with_others(attempt.peak_held);
    if (needed > capacity) {
      outcome.to = needed;
      outcome.no_room_at_start = !attempt.lacks_at_wake;
    } else if (attempt.asked_for_size) {
      outcome.from = capacity;
      outcome.to = capacity + granule();
    } else {
      outcome.from = needed;
      if (attempt.least_refused) outcome.to = with_others(*attempt.least_refused);
    }
    return outcome;
  }

  const Outcome* known(Bytes capacity) const {
    const auto above = known_.upper_bound(capacity);
    if (above == known_.begin()) return nullptr;
    const Outcome& outcome = std::prev(above)->second;
    return capacity < outcome.to ? &outcome : nullptr;
  }

  /// The outcome on a device of that size; null where that is not known and cannot be tried.
  const Outcome* at(Bytes capacity, bool at_any_cost = false) {
    if (const Outcome* outcome = known(capacity)) return outcome;
    if (!fit_.finished || (!at_any_cost && spent_ >= options_.budget)) return nullptr;
    std::optional<Attempt> attempt;
    try {
      attempt = replay_on(capacity);
    } catch (const UsageError&) {  // the strategy can be made, but not on this device
      return &(known_[capacity] = {.from = capacity, .to = capacity + granule(), .alone = true});
    }
    if (!attempt) return nullptr;
    Outcome outcome = outcome_of(*attempt, capacity);
    if (options_.enough) outcome.to = std::min(outcome.to, with_others(*options_.enough));
    if (outcome.fits && capacity < best_) {
      best_ = capacity;
      there_ = std::move(attempt->result);
    }
    return &(known_[outcome.from] = outcome);
  }

  /// What every device that fits has at least, and one that may suffice.
  bool look_without_limit() {
    const std::optional<Attempt> endless = replay_on(std::nullopt);
    if (!endless) return false;
    if (!endless->fits) {
      fit_.first_oom = endless->result.metrics.first_oom;
      return false;
    }
    // Every served byte lies somewhere on the device, unless blocks are moved out of it or sleep.
    const Bytes live =
        endless->moves_blocks || endless->sleeps ? 0 : endless->result.metrics.peak_asked;
    low_ = std::max(with_others(live), granule());
    high_ = std::max(low_, with_others(endless->peak_held));
    return true;
  }

  /// A device that fits, from what an endless one held on upward.
  bool find_any() {
    for (Bytes capacity = high_; capacity <= kLargestDevice; capacity *= 2) {
      const Outcome* outcome = at(capacity, true);
      if (outcome == nullptr) return false;
      if (outcome->fits) {
        high_ = capacity;
        fit_.smallest = std::max(low_, outcome->from);
        return true;
      }
    }
    return false;
  }

  void bisect() {
    Bytes low = low_;
    Bytes high = *fit_.smallest;
    while (low < high) {
      const Bytes middle = low + (high - low) / 2 / granule() * granule();
      const Outcome* outcome = at(middle);
      if (outcome == nullptr) break;
      if (outcome->fits) {
        high = std::max(low, outcome->from);
      } else {
        low = std::min(high, outcome->to);
      }
    }
    fit_.smallest = high;
  }

  /// True where every smaller device is known to fail.
  bool prove_smallest() {
    Bytes capacity = low_;
    while (capacity < *fit_.smallest) {
      const Outcome* outcome = at(capacity);
      if (outcome == nullptr) {
        fit_.known_below = capacity;
        return false;
      }
      if (outcome->fits) fit_.smallest = capacity;
      if (!outcome->fits) capacity = outcome->to;
    }
    return true;
  }

  /// Upward from the smallest one, until every larger device is known to fit.
  void look_at_larger() {
    Bytes capacity = *fit_.smallest;
    Bytes last = high_;
    while (capacity < kEndless) {
      const Outcome* outcome = capacity <= last ? at(capacity) : known(capacity);
      if (outcome == nullptr) {
        fit_.known_below = capacity;
        return;
      }
      last = outcome->alone ? std::min(high_, kFarAbove * *fit_.smallest) : high_;
      capacity = outcome->to;
    }
  }

  void conclude() {
    const Outcome* smaller = known(*fit_.smallest - granule());
    fit_.bounded_by_start = smaller != nullptr && smaller->no_room_at_start;
    for (const auto& [from, outcome] : known_) {
      if (outcome.to <= *fit_.smallest) continue;
      if (!outcome.fits && outcome.to < kEndless) fit_.fails_again = outcome.to - granule();
      if (outcome.fits && outcome.retries == 0 && !fit_.smallest_without_retries) {
        fit_.smallest_without_retries = std::max(*fit_.smallest, outcome.from);
      }
    }
  }

  FitOptions options_;
  Contender contender_;
  Branches branches_;
  Fit fit_;
  std::optional<ReplayResult> there_;  ///< on a device of `best_`
  std::map<Bytes, Outcome> known_;     ///< by `from`; they do not overlap
  std::uint64_t spent_ = 0;
  Bytes best_ = kEndless;  ///< the smallest device that was tried and fits
  Bytes low_ = 0;          ///< no smaller device fits
  Bytes high_ = 0;         ///< larger ones than this are not worth a try
};

}  // namespace

FoundFit fit(const Subject& subject, const StrategySpec& spec, const FitOptions& options) {
  return Search(subject, spec, options).run();
}

std::optional<GivenDevice> runs_on(const Subject& subject, const StrategySpec& spec,
                                   const FitOptions& options) {
  return Search(subject, spec, options).ask(*options.replaying.device.capacity);
}

}  // namespace memreplay

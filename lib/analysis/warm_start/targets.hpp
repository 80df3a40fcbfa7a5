#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "analysis/warm_start/earlier_steps.hpp"
#include "analysis/warm_start/rehearsal.hpp"
#include "strategy/torch/torch.hpp"

namespace memreplay {

/// A way to guess what a strategy reserves: a preparation, and a correction by what the same
/// preparation gives under the recorded settings.
struct Guess {
  enum class Way {
    last_step,      ///< the largest earlier step alone
    steps,          ///< all earlier steps
    fading_steps,   ///< and smaller ones again
    two_steps,      ///< two like the recording
    live,           ///< no earlier step
    live_and_step,  ///< one like the recording
    idle,           ///< the requests that idle segments were obtained for
    kept,
    kept_live,
  };
  enum class Correction { none, ratio, difference };
  Way way = Way::steps;
  Correction correction = Correction::none;

  friend bool operator==(const Guess&, const Guess&) = default;
};

Preparation preparation_of(Guess::Way way, const EarlierSteps& steps);

/// A value of a guess, in bytes; the same quantity for all.
using GuessValue = std::function<double(Guess)>;

/// What tells the replayed settings from those recorded, as far as it decides how one guesses.
struct Target {
  double (*estimate)(const GuessValue& value);
  std::vector<Guess> guesses;  ///< what the interval spans beside the estimate
  /// By how much it is widened.
  struct Widening {
    double low = 1;
    double high = 1;
  };
  Widening widening;
};

/// Of PyTorch's allocator under other settings. `room` is what the device has for it, nothing for
/// an endless one; `needed` what the recorded allocator reserved at its peak.
const Target& target_of(const TorchModel& recorded, const TorchModel& replayed,
                        std::optional<Bytes> room, Bytes needed);

/// Of another allocator.
const Target& target_of_others();

}  // namespace memreplay

#pragma once

#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/late_start/earlier_steps.hpp"
#include "analysis/late_start/rehearsal.hpp"
#include "strategy/torch/torch.hpp"

namespace memreplay {

/// A way to guess what a strategy reserves: a preparation, and a correction by what the same
/// preparation gives under the recorded settings.
struct Guess {
  enum class Way {
    kept,          ///< the state in which the recording starts, as it is
    kept_live,     ///< only its segments that hold a block
    idle,          ///< the requests that idle segments were obtained for
    one_step,      ///< a step like the recording
    largest_step,  ///< the largest earlier step
    fading_steps,  ///< and smaller ones after it
  };
  enum class Correction { none, ratio, difference };
  Way way = Way::largest_step;
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
    /// The power of what the highest guess is above the estimate: each further shape that a program
    /// had before may have left as much again.
    double rise = 1;
    /// Guesses nearer to each other than by this share need less of it, and none where they agree.
    double agreed = 0;
  };
  Widening widening;
};

/// The target for PyTorch's allocator under other settings. `room` is what the device has for it,
/// unset for an endless one; `needed` what the recorded allocator reserved at its peak.
const Target& target_of(const TorchModel& recorded, const TorchModel& replayed,
                        std::optional<Bytes> room, Bytes needed);

/// The target for another allocator, by its registered name.
const Target& target_of_other(std::string_view name);

}  // namespace memreplay

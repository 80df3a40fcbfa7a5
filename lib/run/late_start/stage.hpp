#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/simulated_device.hpp"
#include "replay/contender.hpp"
#include "replay/replay.hpp"
#include "run/late_start/rehearsal.hpp"
#include "strategy/torch/torch.hpp"

namespace memreplay {

/// What a recording came to after a preparation.
struct StageOutcome {
  Bytes peak_reserved = 0;
  Bytes end_reserved = 0;
  Bytes peak_allocated = 0;
  Bytes end_allocated = 0;
  Bytes peak_of_small = 0;  ///< reserved by PyTorch's pools for small blocks; 0 for others
  Bytes peak_of_large = 0;
  Bytes end_of_small = 0;
  std::uint64_t ooms = 0;
  std::uint64_t oom_retries = 0;
  std::uint64_t refused_before = 0;  ///< requests of the preparation

  bool serves() const { return ooms == 0 && refused_before == 0; }
};

/// One strategy over a device of its own, on which preparations of a recording are tried.
class Stage {
 public:
  /// All arguments outlive this. `replaying` says what is measured. Throws UsageError where the
  /// strategy cannot be made.
  Stage(const Contender& contender, const WarmScript& script, const SimulatedDeviceOptions& device,
        const ReplayOptions& replaying);

  /// Reserved after a preparation; unset where the strategy cannot take it.
  std::optional<Bytes> reserved_after(const Preparation& preparation);
  /// What the recording comes to when it is played after the earlier steps.
  std::optional<StageOutcome> outcome(const Preparation& preparation);

 private:
  /// A strategy in some state, with the places of its blocks.
  struct Scene {
    std::unique_ptr<DeviceModel> device;
    std::unique_ptr<Strategy> strategy;
    std::vector<Placement> placed;
    std::uint64_t refused = 0;
  };
  /// Null where the strategy cannot take the preparation. Goes on from the longest known one that
  /// it begins with.
  const Scene* prepared(const Preparation& preparation);
  Scene empty_scene() const;
  static Scene copy(const Scene& scene);
  /// Uses the scene up.
  StageOutcome measure(Scene scene) const;

  Contender contender_;
  const WarmScript& script_;
  const SimulatedDeviceOptions& device_options_;
  const ReplayOptions& replaying_;
  std::map<Preparation, Scene> scenes_;
  std::map<Preparation, StageOutcome> outcomes_;
};

enum class WarmKind {
  fresh,    ///< nothing ran before but what made the live blocks
  steady,   ///< earlier steps were like those recorded
  smaller,  ///< earlier steps were smaller
  larger,   ///< an earlier step was larger than any recorded one
};

std::string name_of(WarmKind kind);

/// What came before a recording, told from the memory that it left cached.
struct EarlierSteps {
  WarmKind kind = WarmKind::fresh;
  double largest = 0;  ///< size of the largest one, in those of the recording; 0: none
};

/// `recorded` is the allocator under its own settings, without a limit. At most six rehearsals.
EarlierSteps earlier_steps(const WarmParts& parts, bool expandable, Stage& recorded);

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

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/late_start/rehearsal.hpp"
#include "device/simulated_device.hpp"
#include "replay/replay.hpp"
#include "verify/subject.hpp"

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
  Stage(const Subject& subject, const WarmScript& script, const StrategySpec& spec,
        const SimulatedDeviceOptions& device, const ReplayOptions& replaying);

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

  const Subject& subject_;
  const WarmScript& script_;
  const StrategySpec& spec_;
  const SimulatedDeviceOptions& device_options_;
  const ReplayOptions& replaying_;
  std::map<Preparation, Scene> scenes_;
  std::map<Preparation, StageOutcome> outcomes_;
};

}  // namespace memreplay

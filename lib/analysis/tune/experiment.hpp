#pragma once

#include <string>
#include <vector>

#include "analysis/tune/known.hpp"
#include "analysis/tune/outcome.hpp"
#include "device/simulated_device.hpp"
#include "replay/replay.hpp"
#include "verify/subject.hpp"

namespace memreplay {

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

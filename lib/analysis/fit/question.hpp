#pragma once

#include <cstdint>
#include <vector>

#include "analysis/fit/fit.hpp"
#include "analysis/recorded/inputs.hpp"
#include "analysis/run/setup.hpp"

namespace memreplay {

/// How small may a device be, and does a recording fit this one?
struct FitQuestion {
  std::vector<StrategySpec> strategies;  ///< empty: that of the recording
  Setup setup;
  /// One stands for the capacity of the device, several for a row each; where no reserve is given,
  /// the context is one.
  std::vector<ChosenCard> cards;
  std::uint64_t budget = FitOptions().budget;  ///< events that each search may replay
};

}  // namespace memreplay

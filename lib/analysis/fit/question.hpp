#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/fit/fit.hpp"
#include "analysis/recorded/inputs.hpp"
#include "analysis/run/setup.hpp"

namespace memreplay {

/// How small may a device be, and does a recording fit this one?
struct FitQuestion {
  std::vector<StrategySpec> strategies;  ///< empty: that of the recording
  Setup setup;
  /// Stands for the capacity of the device; where no reserve is given, its context is one.
  std::optional<Card> card;
  std::uint64_t budget = FitOptions().budget;  ///< events that each search may replay
};

}  // namespace memreplay

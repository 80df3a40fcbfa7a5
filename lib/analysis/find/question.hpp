#pragma once

#include <vector>

#include "analysis/fit/answer.hpp"
#include "analysis/recorded/inputs.hpp"
#include "analysis/run/setup.hpp"

namespace memreplay {

/// The largest value of a program's parameter at which it fits a device.
struct FindQuestion {
  std::vector<StrategySpec> strategies;  ///< empty: that of the recording
  Setup setup;  ///< with the capacity of the device, unless there are cards
  /// On each; where no reserve is given, the context is one.
  std::vector<ChosenCard> cards;
  Variation variation;
  std::vector<Edit> edits;  ///< made to what is predicted
  std::optional<int> gpu;
  bool plotted = false;  ///< the curves, too
};

}  // namespace memreplay

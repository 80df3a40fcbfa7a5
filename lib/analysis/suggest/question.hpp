#pragma once

#include <optional>
#include <vector>

#include "analysis/run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// Which edits of a program would make it fit, and at what price?
struct SuggestQuestion {
  std::optional<Bytes> budget;  ///< unset: the device of a recorded failure
  /// Empty: that of the recording, and where it is PyTorch's, expandable segments and searched
  /// settings too.
  std::vector<StrategySpec> strategies;
  bool checkpoint = true;  ///< what is computed again may be suggested
  bool offload = true;     ///< what is moved out and in again
  /// Copies of the parameters that the optimizer will keep, where the recording ends before its
  /// first step: 2 of Adam, 1 of momentum.
  std::uint32_t states = 2;
  Setup setup;
};

}  // namespace memreplay

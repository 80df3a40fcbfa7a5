#pragma once

#include <array>

#include "extensions/diff/answer.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// Two runs of each strategy; 25 bytes an event for each of them. For a recording that starts late
/// the nearest replays are compared. Throws UsageError where a strategy cannot be made.
StrategiesDiff diff_strategies(const Subject& subject, const std::array<StrategySpec, 2>& specs,
                               const Setup& setup, const Control& control);

}  // namespace memreplay

#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// RMM's bins of fixed sizes in front of another strategy.
StrategyInfo rmm_binning_strategy();

}  // namespace memreplay

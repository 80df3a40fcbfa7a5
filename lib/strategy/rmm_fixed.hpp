#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// RMM's pool of blocks of one size.
StrategyInfo rmm_fixed_strategy();

}  // namespace memreplay

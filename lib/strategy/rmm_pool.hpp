#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// RMM's pool: best fit over free lists of the streams, grown by doubling.
StrategyInfo rmm_pool_strategy();

}  // namespace memreplay

#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// One pool with a pointer that only moves up, until the pool is empty.
StrategyInfo bump_strategy();

}  // namespace memreplay

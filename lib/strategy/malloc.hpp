#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// malloc of this process or of a library, on the memory of this machine.
StrategyInfo malloc_strategy();

}  // namespace memreplay

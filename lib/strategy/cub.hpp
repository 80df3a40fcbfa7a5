#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// cub's caching allocator: powers of a number, cached by size and never split.
StrategyInfo cub_strategy();

}  // namespace memreplay

#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// RMM's arenas: superblocks that streams take from one region.
StrategyInfo rmm_arena_strategy();

}  // namespace memreplay

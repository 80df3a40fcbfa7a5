#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// STAlloc: profiles the first iterations, gives their requests planned places, and falls back to a
/// caching allocator (infinigence/STAlloc, Allocator/StaticAllocator.hpp). O(log live) an event
/// beside the fallback.
StrategyInfo stalloc_strategy();

}  // namespace memreplay

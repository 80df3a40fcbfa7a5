#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// Follows a plan made from the trace itself: what an allocator could do that knows the future.
/// O(log live) an event.
StrategyInfo plan_strategy();

}  // namespace memreplay

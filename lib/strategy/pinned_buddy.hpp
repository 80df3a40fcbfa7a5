#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// The proposal of pytorch/pytorch issue 181094 for pinned host memory: large blocks taken at the
/// start, halved and joined as buddies, and an `empty_cache` that returns those which are idle.
/// Blocks beside the warm ones are whole for good: only a part of a warm block has a buddy.
StrategyInfo pinned_buddy_strategy();

}  // namespace memreplay

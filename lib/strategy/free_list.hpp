#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// The allocator of the textbooks: free blocks in a list by address.
StrategyInfo free_list_strategy();

}  // namespace memreplay

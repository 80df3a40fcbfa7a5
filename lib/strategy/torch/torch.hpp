#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// PyTorch's native CUDA caching allocator under settings of one's own.
StrategyInfo torch_strategy();

}  // namespace memreplay

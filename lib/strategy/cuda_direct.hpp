#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// cudaMalloc and cudaFree on a GPU: what a program without an allocator of its own gets.
StrategyInfo cuda_direct_strategy();

}  // namespace memreplay

#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// PyTorch's allocator of pinned host memory, aten/src/ATen/core/CachingHostAllocator.h, with the
/// rules of 2.15. The device stands for the host: what it grants was asked of cudaHostAlloc.
StrategyInfo pinned_strategy();

}  // namespace memreplay

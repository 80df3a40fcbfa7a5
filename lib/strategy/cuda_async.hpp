#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// A model of the driver's stream-ordered pool (cudaMallocAsync).
StrategyInfo cuda_async_strategy();

}  // namespace memreplay

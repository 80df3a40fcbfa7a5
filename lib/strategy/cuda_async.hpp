#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// The driver's stream-ordered pool (cudaMallocAsync); a model of it where the device has none.
StrategyInfo cuda_async_strategy();

}  // namespace memreplay

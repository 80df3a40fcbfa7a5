#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// The PyTorch allocator with the settings that the recording carries.
StrategyInfo recorded_strategy();

}  // namespace memreplay

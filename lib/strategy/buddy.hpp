#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// The binary buddy system (Knowlton 1965; Knuth, The Art of Computer Programming 1, 2.5).
StrategyInfo buddy_strategy();

}  // namespace memreplay

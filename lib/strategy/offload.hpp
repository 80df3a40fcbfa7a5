#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// Moves live blocks to host memory, then to NVMe, when another strategy is full; in the spirit of
/// ZeRO-Infinity (Rajbhandari et al., SC 2021). A model: a trace does not say when a block is used.
/// O(1) an event beside the inner strategy (O(log live) with victim=largest), O(moved) where it is
/// full.
StrategyInfo offload_strategy();

}  // namespace memreplay

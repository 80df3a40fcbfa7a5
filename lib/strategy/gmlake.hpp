#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// A caching allocator that stitches free memory of several places together in one range of
/// addresses: GMLake, GMLake/src/CUDACachingAllocator.cpp in intelligent-machine-learning/glake.
/// O(log free blocks) an event and, where memory is shared by stitched blocks, O(chunks).
StrategyInfo gmlake_strategy();

}  // namespace memreplay

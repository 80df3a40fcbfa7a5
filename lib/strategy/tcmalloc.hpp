#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// A model of tcmalloc (google/tcmalloc, docs/design.md, tcmalloc/thread_cache.cc) for device
/// memory: caches per thread over transfer caches, central lists and a heap of pages.
StrategyInfo tcmalloc_strategy();

}  // namespace memreplay

#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// A model of jemalloc (jemalloc/jemalloc, doc/jemalloc.xml.in) for device memory: size classes in
/// slabs, caches per thread, arenas, large blocks in whole pages.
StrategyInfo size_class_strategy();

}  // namespace memreplay

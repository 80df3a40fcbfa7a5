#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// Every request is a region of its own: what memory costs without any caching.
StrategyInfo direct_strategy();

}  // namespace memreplay

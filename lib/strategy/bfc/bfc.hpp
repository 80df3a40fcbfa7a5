#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// BFC of TensorFlow and XLA: best fit with coalescing.
StrategyInfo bfc_strategy();

}  // namespace memreplay

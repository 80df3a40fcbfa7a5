#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// A model of Hoard (Berger et al., ASPLOS 2000; emeryberger/Hoard, src/include/hoard) for device
/// memory: heaps of superblocks that give the emptiest one up when they hold too much.
StrategyInfo hoard_strategy();

}  // namespace memreplay

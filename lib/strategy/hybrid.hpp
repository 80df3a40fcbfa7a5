#pragma once

#include "strategy/registry.hpp"

namespace memreplay {

/// A static part laid out beforehand, and a dynamic one for what has no room in it. A model of
/// programs that plan what they know of. Costs what its parts cost.
StrategyInfo hybrid_strategy();

}  // namespace memreplay

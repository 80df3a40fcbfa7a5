#pragma once

#include <optional>
#include <vector>

#include "strategy/registry.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// What is laid side by side where nobody names a strategy: the families between which people
/// choose, each as its users would set it. `room` is what the device has; unset: it is endless.
std::vector<StrategySpec> presets(const Recording& recording, std::optional<Bytes> room);

/// What a page of pictures shows where nobody names a strategy.
std::vector<StrategySpec> page_presets(const Recording& recording);

}  // namespace memreplay

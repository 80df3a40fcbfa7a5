#pragma once

#include <vector>

#include "options/options.hpp"

namespace memreplay {

/// What `compare` lays side by side where the command line names no strategy: the families between
/// which people choose, each as its users would set it.
std::vector<StrategySpec> presets(const Recording& recording, const RunOptions& options);

}  // namespace memreplay

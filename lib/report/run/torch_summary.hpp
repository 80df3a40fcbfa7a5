#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/run/answer.hpp"

namespace memreplay {

/// The table that `torch.cuda.memory_summary()` prints for these `memory_stats()`. Unset where they
/// are not PyTorch's.
std::optional<std::string> torch_summary(
    const std::vector<std::pair<std::string, std::int64_t>>& stats, int gpu);

/// The tables of all runs, in the order given, each under the name of its strategy.
std::string torch_summaries(const std::vector<TraceRuns>& reports);

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "run/answer.hpp"

namespace memreplay {

/// "1234 ns", "41.3 us"; "-" where there are none.
std::string mean_text(const Durations& times);
std::string quantile_text(const Durations& times, double share);

/// What replays on real memory measured: a row each. Empty where there was none.
std::string measured_table(const TraceRuns& report, std::size_t width = 100);

/// The calls that one of them made to its driver. Empty where it ran in simulation.
std::string calls_table(const Run& run, std::size_t width = 100);

/// "sim and host hold the same bytes after each of 1,959 events". Empty where the strategy ran on
/// one device only.
std::string agreement_phrase(const Run& run);

/// What was done to the blocks on real memory, and what had none. Empty where there is nothing to
/// say.
std::vector<std::string> real_phrases(const Run& run);

/// The table that `torch.cuda.memory_summary()` prints for these `memory_stats()`. Unset where they
/// are not PyTorch's.
std::optional<std::string> torch_summary(
    const std::vector<std::pair<std::string, std::int64_t>>& stats, int gpu);

/// The tables of all runs, in the order given, each under the name of its strategy.
std::string torch_summaries(const std::vector<TraceRuns>& reports);

}  // namespace memreplay

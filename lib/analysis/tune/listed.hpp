#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/tune/tune.hpp"

namespace memreplay {

/// Tries what `options.strategy` registers as settings to try, the simplest first, beside the
/// options that it comes with, until the budget is used. One replay each, O(events).
TuneResult tune_listed(const TuneOptions& options);

/// The line that sets what is recommended in the original of a listed strategy.
std::string line_as_set(const TuneResult& result);

/// The options that a search over this strategy (unset: PyTorch's) varies. Throws UsageError where
/// it registers no settings to try.
std::vector<std::string> options_to_vary(const std::optional<StrategySpec>& strategy);

}  // namespace memreplay

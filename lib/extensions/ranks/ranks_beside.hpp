#pragma once

#include <optional>
#include <vector>

#include "extensions/ranks/answer.hpp"
#include "line/terminal.hpp"
#include "run/inputs.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// What `ranks` answers of the recordings of a question about something else, which are read once
/// more for it. Unset of a single one, of files that can be read only once, and where fewer than
/// two are recordings of ranks.
std::optional<RanksAnswer> ranks_of(const InputOptions& input,
                                    const std::vector<StrategySpec>& strategies, const Setup& setup,
                                    Progress& progress);

}  // namespace memreplay

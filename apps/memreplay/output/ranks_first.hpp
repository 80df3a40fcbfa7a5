#pragma once

#include <optional>
#include <vector>

#include "analysis/ranks/answer.hpp"
#include "analysis/recorded/inputs.hpp"
#include "analysis/run/setup.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// What `ranks` answers of the recordings of a question about something else, which are read once
/// more for it. Unset of a single one, of files that can be read only once, and where fewer than
/// two are recordings of ranks.
std::optional<RanksAnswer> ranks_of(const InputOptions& input,
                                    const std::vector<StrategySpec>& strategies, const Setup& setup,
                                    Progress& progress);

/// Begins the text of an answer about several recordings with it, where there is a text.
void print_ranks_first(const Printer& printer, const InputOptions& input,
                       const std::vector<StrategySpec>& strategies, const Setup& setup,
                       Progress& progress, Colour colour);

}  // namespace memreplay

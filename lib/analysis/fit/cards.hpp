#pragma once

#include <string>
#include <vector>

#include "analysis/fit/fit.hpp"

namespace memreplay {

/// Upper and lower case are the same, blanks and hyphens too. Throws UsageError with the
/// nearest name.
const Card& card_named(const std::string& name);

/// The smallest cards, at most `count`, on which the recording runs without an OOM beside the
/// reserve in `options`. None below `least` is tried. Cancelled: those found so far.
std::vector<Card> cards_that_fit(const Subject& subject, const StrategySpec& spec,
                                 FitOptions options, Bytes least, std::size_t count);

}  // namespace memreplay

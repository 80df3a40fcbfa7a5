#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/fit/fit.hpp"

namespace memreplay {

/// "rtx 4090", "4090", "a100", or what the driver calls it, "NVIDIA A100-SXM4-80GB": a whole name,
/// else its words, else a part of it. The most usual one is taken of several. Throws UsageError
/// with the nearest name.
ChosenCard card_named(const std::string& name);

/// The smallest cards, at most `count`, on which the recording runs without an OOM beside the
/// reserve in `options`. None below `least` is tried. Cancelled: those found so far.
std::vector<Card> cards_that_fit(const Subject& subject, const StrategySpec& spec,
                                 FitOptions options, Bytes least, std::size_t count);

}  // namespace memreplay

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/fit/fit.hpp"

namespace memreplay {

struct Card {
  std::string_view name;
  Bytes total = 0;  ///< what the driver reports (cudaMemGetInfo)
};

/// What a CUDA context takes before the first allocation: roughly, and more with many kernels
/// loaded. An assumption, not a measurement.
inline constexpr Bytes kContext = 500 * kMiB;

/// By total, the smallest first.
std::span<const Card> cards();

/// Upper and lower case are the same, blanks and hyphens too. Throws UsageError with the
/// nearest name.
const Card& card_named(const std::string& name);

/// The smallest cards, at most `count`, on which the recording runs without an OOM beside the
/// reserve in `options`. None below `least` is tried. Cancelled: those found so far.
std::vector<Card> cards_that_fit(const Subject& subject, const StrategySpec& spec,
                                 FitOptions options, Bytes least, std::size_t count);

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/recorded/answer.hpp"
#include "analysis/recorded/inputs.hpp"
#include "analysis/run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// What changed between two recordings, or where do two strategies part on one?
struct DiffQuestion {
  /// Two for one recording. For two recordings one, or none: they are compared as recorded.
  std::vector<StrategySpec> strategies;
  Setup setup;
  std::optional<std::uint64_t> at_step;  ///< the step that is compared; unset: whole recordings
  PlaceBy by = PlaceBy::place;           ///< what counts as a place
  std::size_t rows = 10;                 ///< rows of the table of places
};

}  // namespace memreplay

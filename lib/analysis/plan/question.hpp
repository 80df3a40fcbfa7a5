#pragma once

#include <optional>

#include "analysis/run/setup.hpp"
#include "planner/planner.hpp"

namespace memreplay {

/// How small could it be, were the future known?
struct PlanQuestion {
  PlannerOptions planner;
  /// Of every size and offset; nothing: 512 of recordings, 1 where lives are stated.
  std::optional<Bytes> alignment;
  Setup setup;  ///< of the replay beside it
};

}  // namespace memreplay

#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/run/setup.hpp"
#include "planner/planner.hpp"

namespace memreplay {

/// One of several memories that a plan fills in their order.
struct MemoryToFill {
  std::string name;
  Bytes capacity = 0;
};

/// How small could it be, were the future known?
struct PlanQuestion {
  PlannerOptions planner;
  std::vector<MemoryToFill> memories;  ///< empty: one, of the planner's capacity
  /// For every size and offset; unset: 512 for recordings, 1 where lifetimes are stated.
  std::optional<Bytes> alignment;
  Setup setup;  ///< for the replay beside it
};

}  // namespace memreplay

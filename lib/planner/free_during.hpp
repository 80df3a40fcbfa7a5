#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "core/plan.hpp"
#include "planner/blocks.hpp"

namespace memreplay {

struct TimeSpan {
  std::uint64_t from = 0;
  std::uint64_t to = 0;  ///< above `from`
};

/// Below the packing's height, what no block takes at any time of each span, ascending. Spans
/// begin in their order. O(n log n + spans * live blocks).
std::vector<std::vector<Plan::Range>> free_during(std::span<const PlannedBlock> blocks,
                                                  const Packing& packing,
                                                  std::span<const TimeSpan> spans);

}  // namespace memreplay

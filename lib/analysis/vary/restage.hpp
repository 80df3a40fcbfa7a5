#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "analysis/vary/column_sums.hpp"

namespace memreplay {

/// One recording beside the one whose calls are edited.
struct PairedCalls {
  const Calls* calls = nullptr;
  std::span<const std::uint32_t> block_of;  ///< by block of the first; Calls::kNoBlock: none
};

/// What becomes of the staging of sums.
struct Restaging {
  std::vector<std::uint32_t> dropped;  ///< the first of four calls each, ascending
  std::vector<std::pair<std::uint32_t, SumStaging>> added;  ///< after these calls, ascending
};

/// Staging of sums follows from their rows, not from that of recordings. `sizes` are those
/// predicted, by block, and get those of staging that stays. `growth` is the factor by which a
/// number of rows grows that is known from its staging alone. Where a recording sums enough rows
/// without staging, what looks like the gradient of a bias is none. O(calls x recordings).
Restaging restage(const Calls& calls, std::span<const PairedCalls> others, double growth,
                  std::vector<Bytes>& sizes);

}  // namespace memreplay

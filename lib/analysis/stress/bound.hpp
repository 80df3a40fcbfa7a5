#pragma once

#include <cstddef>

namespace memreplay {

/// Which of so many values drawn alike bounds a share of all that could be drawn.
struct ToleranceBound {
  std::size_t above = 0;  ///< so many of the values lie above it at most: 0 is the largest
  double confidence = 0;  ///< that it does: the chance, over the draws, that the bound is none
};

/// The one-sided tolerance limit of Wilks ("Determination of sample sizes for setting tolerance
/// limits", 1941), for any distribution: the lowest of `values` draws that bounds `share` of what
/// could be drawn with at least this confidence; where even the largest has less, the largest with
/// what it has. 0 < share < 1. O(above).
ToleranceBound tolerance_bound(std::size_t values, double share, double confidence);

}  // namespace memreplay

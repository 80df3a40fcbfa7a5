#include "analysis/stress/bound.hpp"

#include <cmath>

namespace memreplay {

// The value with k others above it bounds the share where more than k draws fell beyond the share's
// quantile, and their number is binomial.
ToleranceBound tolerance_bound(std::size_t values, double share, double confidence) {
  const auto count = static_cast<double>(values);
  double log_chance = count * std::log(share);  // exactly k beyond
  double at_most = 0;                           // k beyond
  ToleranceBound bound;
  for (std::size_t k = 0; k < values; ++k) {
    at_most += std::exp(log_chance);
    if (k > 0 && 1 - at_most < confidence) break;
    bound = {k, 1 - at_most};
    const auto so_far = static_cast<double>(k);
    log_chance += std::log((count - so_far) / (so_far + 1)) + std::log((1 - share) / share);
  }
  return bound;
}

}  // namespace memreplay

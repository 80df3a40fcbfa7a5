#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <vector>

#include "planner/ordered.hpp"

namespace memreplay {

/// Local search over orders: a block that reaches the top moves to an earlier place in the order,
/// and what does not make the packing higher is kept. Seeded.
class OrderImprovement {
 public:
  /// `packing` is what `order` leads to; of `places` as place_in_order has them.
  OrderImprovement(std::span<const PlannedBlock> blocks,
                   std::span<const std::optional<Bytes>> places, std::vector<std::uint32_t> order,
                   Packing packing, PlacingFit fit, std::uint64_t seed);

  /// O(n * overlaps * log) for each try. True where it became lower.
  bool run(int tries);
  const Packing& packing() const { return packing_; }

 private:
  std::size_t place_of_topmost();

  std::span<const PlannedBlock> blocks_;
  std::span<const std::optional<Bytes>> places_;
  std::vector<std::uint32_t> order_;
  Packing packing_;
  PlacingFit fit_;
  std::mt19937_64 random_;
};

}  // namespace memreplay

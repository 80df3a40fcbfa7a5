#pragma once

#include <cstdint>
#include <iterator>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "extensions/planner/blocks.hpp"

namespace memreplay {

/// The order in which blocks are placed. Ties are broken completely; `row` is the index.
enum class PlacingOrder : std::uint8_t {
  size,        ///< size falling, start, row
  area,        ///< size times length falling, row
  length,      ///< length falling, size falling, row
  start,       ///< start, size falling, row
  breadth,     ///< instants by live bytes falling, then time; of each the live blocks by size
  contention,  ///< largest live bytes during the life falling, area falling, row
};
inline constexpr PlacingOrder kPlacingOrders[] = {PlacingOrder::size,    PlacingOrder::area,
                                                  PlacingOrder::length,  PlacingOrder::start,
                                                  PlacingOrder::breadth, PlacingOrder::contention};

/// Which gap below the top takes a block: the lowest that fits, or the smallest, lowest on a tie.
enum class PlacingFit : std::uint8_t { first, best };

std::string_view name_of(PlacingOrder order);
/// "size/best"
std::string name_of(PlacingOrder order, PlacingFit fit);

/// The rows of `blocks` in a placing order. O(n log n).
std::vector<std::uint32_t> placing_order(std::span<const PlannedBlock> blocks, PlacingOrder order);

/// Places blocks in a given order, each into a gap between those placed that live at the same time,
/// or above them all. TFLite's greedy by size and by breadth (Pisarchyk and Lee 2020) are
/// size/best and breadth/best. Blocks whose places are given, by row, stay there. O(n * overlaps *
/// log).
Packing place_in_order(std::span<const PlannedBlock> blocks, std::span<const std::uint32_t> order,
                       PlacingFit fit, std::span<const std::optional<Bytes>> places = {});

inline constexpr Bytes kNotPlaced = UINT64_MAX;
/// As place_in_order, but a block that would reach above the capacity is left out: by block its
/// offset, or kNotPlaced.
std::vector<Bytes> place_within(std::span<const PlannedBlock> blocks,
                                std::span<const std::uint32_t> order, PlacingFit fit,
                                Bytes capacity, std::span<const std::optional<Bytes>> places = {});

/// The order `start` with the fit `best`, by a sweep over time. O(n log n).
Packing place_by_start(std::span<const PlannedBlock> blocks);

/// Pairs of blocks that live at the same time, which is what placing in order costs. O(n log n).
std::uint64_t overlapping_pairs(std::span<const PlannedBlock> blocks);

struct BestPacking {
  Packing packing;
  PlacingOrder order = PlacingOrder::size;
};
/// The lowest of the first `most` orders, the first of equals; stops where no order can be lower.
BestPacking best_of_orders(std::span<const PlannedBlock> blocks, PlacingFit fit,
                           std::size_t most = std::size(kPlacingOrders));

/// The lowest of `count` random orders.
Packing best_of_random_orders(std::span<const PlannedBlock> blocks, PlacingFit fit,
                              std::uint64_t seed, int count);

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

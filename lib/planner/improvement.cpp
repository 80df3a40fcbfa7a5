#include "planner/improvement.hpp"

#include <algorithm>

namespace memreplay {

OrderImprovement::OrderImprovement(std::span<const PlannedBlock> blocks,
                                   std::span<const std::optional<Bytes>> places,
                                   std::vector<std::uint32_t> order, Packing packing,
                                   PlacingFit fit, std::uint64_t seed)
    : blocks_(blocks),
      places_(places),
      order_(std::move(order)),
      packing_(std::move(packing)),
      fit_(fit),
      random_(seed) {}

bool OrderImprovement::run(int tries) {
  const Bytes before = packing_.height;
  for (int i = 0; i < tries && order_.size() > 1; ++i) {
    const auto from = static_cast<std::ptrdiff_t>(place_of_topmost());
    const auto to = static_cast<std::ptrdiff_t>(random_() % static_cast<std::size_t>(from + 1));
    std::rotate(order_.begin() + to, order_.begin() + from, order_.begin() + from + 1);
    Packing packing = place_in_order(blocks_, order_, fit_, places_);
    if (packing.height <= packing_.height) {
      packing_ = std::move(packing);
    } else {
      std::rotate(order_.begin() + to, order_.begin() + to + 1, order_.begin() + from + 1);
    }
  }
  return packing_.height < before;
}

std::size_t OrderImprovement::place_of_topmost() {
  std::vector<std::size_t> topmost;
  for (std::size_t place = 0; place < order_.size(); ++place) {
    const std::uint32_t row = order_[place];
    if (packing_.offsets[row] + blocks_[row].size == packing_.height) topmost.push_back(place);
  }
  return topmost[random_() % topmost.size()];
}

}  // namespace memreplay

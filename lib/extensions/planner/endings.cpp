#include "extensions/planner/endings.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "extensions/planner/ordered.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kBlocksUnasked = 1000;
/// Score of a gap that is filled: better than any that is not, unless the ends are far apart.
constexpr double kNoWaste = -0.3;

struct LivePlace {
  Bytes from = 0;
  Bytes to = 0;
  std::uint64_t end = 0;
};

class EndingsSweep {
 public:
  explicit EndingsSweep(double waste) : waste_(waste) {}

  /// Blocks come by their starts.
  Bytes place(const PlannedBlock& block) {
    if (block.start != now_) {
      now_ = block.start;
      std::erase_if(live_, [&](const LivePlace& place) { return place.end <= now_; });
    }
    const Bytes top = live_.empty() ? 0 : live_.back().to;
    best_ = {round_up(top, block.alignment), live_.size()};
    for (std::size_t above = 0; above < live_.size(); ++above) consider(block, above);
    const auto at = live_.begin() + static_cast<std::ptrdiff_t>(best_.above);
    live_.insert(at, {best_.offset, best_.offset + block.size, block.end});
    return best_.offset;
  }

 private:
  /// The gap below one of the live blocks.
  struct Choice {
    Bytes offset = 0;
    std::size_t above = 0;
    double cost = std::numeric_limits<double>::max();
  };

  void consider(const PlannedBlock& block, std::size_t above) {
    const Bytes from = above == 0 ? 0 : live_[above - 1].to;
    const Bytes to = live_[above].from;
    if (to - from < block.size) return;
    const Bytes lowest = round_up(from, block.alignment);
    if (lowest + block.size > to) return;
    const double to_below = above == 0 ? waste_ : distance(block, live_[above - 1]);
    const double to_above = distance(block, live_[above]);
    const Bytes left = to - from - block.size;
    const double waste =
        left == 0
            ? kNoWaste
            : waste_ * std::min(1.0, static_cast<double>(left) / static_cast<double>(block.size));
    const double cost = std::min(to_below, to_above) + waste;
    if (cost >= best_.cost) return;
    const Bytes highest = (to - block.size) & ~(block.alignment - 1);
    best_ = {to_below <= to_above ? lowest : highest, above, cost};
  }

  /// Between two ends, in lengths of the block.
  static double distance(const PlannedBlock& block, const LivePlace& other) {
    const std::uint64_t apart =
        other.end > block.end ? other.end - block.end : block.end - other.end;
    return static_cast<double>(apart) / static_cast<double>(block.length());
  }

  double waste_ = 0;
  std::uint64_t now_ = 0;
  std::vector<LivePlace> live_;  ///< by offset
  Choice best_;
};

std::vector<PlannedBlock> in_reversed_time(std::span<const PlannedBlock> blocks) {
  std::vector<PlannedBlock> reversed(blocks.begin(), blocks.end());
  for (PlannedBlock& block : reversed) {
    block.start = ~std::exchange(block.end, ~block.start);
  }
  return reversed;
}

}  // namespace

std::optional<Packing> place_by_endings(std::span<const PlannedBlock> blocks,
                                        const EndingsWish& wish,
                                        const std::function<bool()>& over) {
  if (wish.backwards) return place_by_endings(in_reversed_time(blocks), {wish.waste}, over);
  const std::vector<std::uint32_t> order = placing_order(blocks, PlacingOrder::start);
  std::vector<Bytes> offsets(blocks.size());
  EndingsSweep sweep(wish.waste);
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (i % kBlocksUnasked == 0 && over()) return std::nullopt;
    offsets[order[i]] = sweep.place(blocks[order[i]]);
  }
  return packing_of(blocks, std::move(offsets));
}

}  // namespace memreplay

#include "extensions/planner/ordered.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <tuple>

#include "core/range_set.hpp"
#include "extensions/planner/instant_gaps.hpp"

namespace memreplay {
namespace {

__extension__ using Area = unsigned __int128;

Area area_of(const PlannedBlock& block) { return static_cast<Area>(block.size) * block.length(); }

/// Live bytes from each distinct start on, by time.
struct LiveBytes {
  std::vector<std::uint64_t> times;
  std::vector<Bytes> bytes;
};

LiveBytes live_bytes_of(std::span<const PlannedBlock> blocks) {
  std::vector<std::pair<std::uint64_t, Bytes>> starts, ends;
  for (const PlannedBlock& block : blocks) {
    starts.emplace_back(block.start, block.size);
    ends.emplace_back(block.end, block.size);
  }
  std::sort(starts.begin(), starts.end());
  std::sort(ends.begin(), ends.end());
  LiveBytes live;
  Bytes sum = 0;
  auto end = ends.begin();
  for (auto start = starts.begin(); start != starts.end();) {
    const std::uint64_t time = start->first;
    for (; start != starts.end() && start->first == time; ++start) sum += start->second;
    for (; end != ends.end() && end->first <= time; ++end) sum -= end->second;
    live.times.push_back(time);
    live.bytes.push_back(sum);
  }
  return live;
}

/// The largest value of a range, from tables for every power of two.
class RangeMaximum {
 public:
  explicit RangeMaximum(std::vector<Bytes> values) {
    levels_.push_back(std::move(values));
    for (std::size_t width = 1; 2 * width <= levels_[0].size(); width *= 2) {
      const std::vector<Bytes>& below = levels_.back();
      std::vector<Bytes> level(below.size() - width);
      for (std::size_t i = 0; i < level.size(); ++i) {
        level[i] = std::max(below[i], below[i + width]);
      }
      levels_.push_back(std::move(level));
    }
  }
  /// The maximum in [from, to), which is not empty.
  Bytes operator()(std::size_t from, std::size_t to) const {
    const auto level = static_cast<std::size_t>(std::bit_width(to - from)) - 1;
    return std::max(levels_[level][from], levels_[level][to - (std::size_t{1} << level)]);
  }

 private:
  std::vector<std::vector<Bytes>> levels_;
};

std::vector<Bytes> contention_of(std::span<const PlannedBlock> blocks) {
  const LiveBytes live = live_bytes_of(blocks);
  const RangeMaximum most(live.bytes);
  const auto index = [&](std::uint64_t time) {
    return static_cast<std::size_t>(std::lower_bound(live.times.begin(), live.times.end(), time) -
                                    live.times.begin());
  };
  std::vector<Bytes> contention;
  for (const PlannedBlock& block : blocks) {
    contention.push_back(most(index(block.start), index(block.end)));
  }
  return contention;
}

auto size_key(std::span<const PlannedBlock> blocks, std::uint32_t row) {
  return std::make_tuple(~blocks[row].size, blocks[row].start, row);
}

std::vector<std::uint32_t> breadth_order(std::span<const PlannedBlock> blocks) {
  const LiveBytes live = live_bytes_of(blocks);
  std::vector<std::uint32_t> instants(live.times.size());
  std::iota(instants.begin(), instants.end(), 0u);
  std::sort(instants.begin(), instants.end(), [&](std::uint32_t a, std::uint32_t b) {
    return live.bytes[a] != live.bytes[b] ? live.bytes[a] > live.bytes[b] : a < b;
  });
  LiveIndex missing(blocks);
  for (std::uint32_t row = 0; row < blocks.size(); ++row) missing.add(row);
  std::vector<std::uint32_t> order;
  for (const std::uint32_t instant : instants) {
    const auto first = static_cast<std::ptrdiff_t>(order.size());
    const std::uint64_t time = live.times[instant];
    missing.for_each(time, time + 1, [&](std::uint32_t row) { order.push_back(row); });
    std::sort(order.begin() + first, order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return size_key(blocks, a) < size_key(blocks, b);
    });
    for (auto row = order.begin() + first; row != order.end(); ++row) missing.remove(*row);
  }
  return order;
}

struct Taken {
  Bytes from = 0;
  Bytes to = 0;
};

/// Sorts by `from`, all below 2^`bits` units of 2^`shift`, in passes over 11 bits.
class OffsetSort {
 public:
  void sort(std::vector<Taken>& taken, int shift, int bits) {
    if (taken.size() < kFew) {
      std::sort(taken.begin(), taken.end(),
                [](const Taken& a, const Taken& b) { return a.from < b.from; });
      return;
    }
    spare_.resize(taken.size());
    for (int done = 0; done < bits; done += kDigit) {
      const auto digit = [&](const Taken& t) { return t.from >> (shift + done) & (kDigits - 1); };
      counts_.fill(0);
      for (const Taken& t : taken) ++counts_[digit(t)];
      std::exclusive_scan(counts_.begin(), counts_.end(), counts_.begin(), 0u);
      for (const Taken& t : taken) spare_[counts_[digit(t)]++] = t;
      taken.swap(spare_);
    }
  }

 private:
  static constexpr std::size_t kFew = 200;
  static constexpr int kDigit = 11;
  static constexpr std::size_t kDigits = std::size_t{1} << kDigit;
  std::array<std::uint32_t, kDigits> counts_;
  std::vector<Taken> spare_;
};

/// Gaps in the order of their offsets, between blocks in the same order.
class GapSearch {
 public:
  GapSearch(const PlannedBlock& block, PlacingFit fit) : block_(block), fit_(fit) {}

  /// False: there is no need to look on.
  bool pass(Bytes from, Bytes to) {
    const bool goes_on = from <= top_ || look_at({top_, from});
    top_ = std::max(top_, to);
    return goes_on;
  }
  /// All gaps, of which the last is endless.
  void pass_all(std::span<const OffsetGap> gaps) {
    top_ = gaps.back().from;
    for (const OffsetGap& gap : gaps.first(gaps.size() - 1)) {
      if (!look_at(gap)) return;
    }
  }
  Bytes offset() const {
    return smallest_ == UINT64_MAX ? round_up(top_, block_.alignment) : found_;
  }

 private:
  bool look_at(const OffsetGap& gap) {
    const Bytes at = round_up(gap.from, block_.alignment);
    if (at + block_.size > gap.to || gap.to - gap.from >= smallest_) return true;
    smallest_ = gap.to - gap.from;
    found_ = at;
    return fit_ != PlacingFit::first;
  }

  const PlannedBlock& block_;
  PlacingFit fit_;
  Bytes top_ = 0;
  Bytes smallest_ = UINT64_MAX;
  Bytes found_ = 0;
};

}  // namespace

std::string_view name_of(PlacingOrder order) {
  constexpr std::string_view kNames[] = {"size",  "area",    "length",
                                         "start", "breadth", "contention"};
  return kNames[static_cast<std::size_t>(order)];
}

std::string name_of(PlacingOrder order, PlacingFit fit) {
  return std::string(name_of(order)) + (fit == PlacingFit::best ? "/best" : "/first");
}

std::vector<std::uint32_t> placing_order(std::span<const PlannedBlock> blocks, PlacingOrder order) {
  if (order == PlacingOrder::breadth) return breadth_order(blocks);
  std::vector<std::uint32_t> rows(blocks.size());
  std::iota(rows.begin(), rows.end(), 0u);
  const auto sort_by = [&](const auto& key) {
    std::sort(rows.begin(), rows.end(),
              [&](std::uint32_t a, std::uint32_t b) { return key(a) < key(b); });
  };
  const auto size = [&](std::uint32_t row) { return ~blocks[row].size; };
  const auto area = [&](std::uint32_t row) { return ~area_of(blocks[row]); };
  switch (order) {
    case PlacingOrder::size:
      sort_by([&](std::uint32_t row) { return size_key(blocks, row); });
      break;
    case PlacingOrder::area:
      sort_by([&](std::uint32_t row) { return std::make_tuple(area(row), row); });
      break;
    case PlacingOrder::length:
      sort_by([&](std::uint32_t row) {
        return std::make_tuple(~blocks[row].length(), size(row), row);
      });
      break;
    case PlacingOrder::start:
      sort_by(
          [&](std::uint32_t row) { return std::make_tuple(blocks[row].start, size(row), row); });
      break;
    default: {
      const std::vector<Bytes> contention = contention_of(blocks);
      sort_by([&](std::uint32_t row) { return std::make_tuple(~contention[row], area(row), row); });
    }
  }
  return rows;
}

std::vector<Bytes> place_within(std::span<const PlannedBlock> blocks,
                                std::span<const std::uint32_t> order, PlacingFit fit,
                                Bytes capacity, std::span<const std::optional<Bytes>> places) {
  std::vector<Bytes> offsets(blocks.size(), kNotPlaced);
  LiveIndex placed(blocks);
  std::vector<Taken> taken;
  OffsetSort sorting;
  Bytes units = 0;  // all offsets are sums of these
  for (const PlannedBlock& block : blocks) units |= block.size | block.alignment;
  Bytes height = 0;
  for (std::uint32_t row = 0; row < places.size(); ++row) {
    if (!places[row]) continue;
    offsets[row] = *places[row];
    units |= offsets[row];
    height = std::max(height, offsets[row] + blocks[row].size);
    placed.add(row);
  }
  const int shift = std::countr_zero(units);
  // For few blocks it is not worth its while.
  constexpr std::size_t kMany = 2000;
  std::optional<InstantGaps> instants;
  if (blocks.size() >= kMany && places.empty()) instants.emplace(blocks);
  for (const std::uint32_t row : order) {
    if (!places.empty() && places[row]) continue;
    const PlannedBlock& block = blocks[row];
    GapSearch search(block, fit);
    if (instants && instants->knows(row)) {
      search.pass_all(instants->gaps_of(row));
    } else {
      taken.clear();
      placed.for_each(block.start, block.end, [&](std::uint32_t other) {
        taken.push_back({offsets[other], offsets[other] + blocks[other].size});
      });
      sorting.sort(taken, shift, static_cast<int>(std::bit_width(height >> shift)));
      for (const auto& [from, to] : taken) {
        if (!search.pass(from, to)) break;
      }
    }
    const Bytes top = search.offset() + block.size;
    if (top > capacity) continue;
    offsets[row] = search.offset();
    height = std::max(height, top);
    placed.add(row);
    if (instants) instants->place(row, offsets[row]);
  }
  return offsets;
}

Packing place_in_order(std::span<const PlannedBlock> blocks, std::span<const std::uint32_t> order,
                       PlacingFit fit, std::span<const std::optional<Bytes>> places) {
  return packing_of(blocks, place_within(blocks, order, fit, UINT64_MAX, places));
}

Packing place_by_start(std::span<const PlannedBlock> blocks) {
  constexpr Bytes kEndless = Bytes{1} << 62;
  const std::vector<std::uint32_t> by_start = placing_order(blocks, PlacingOrder::start);
  std::vector<std::uint32_t> by_end = by_start;
  std::sort(by_end.begin(), by_end.end(), [&](std::uint32_t a, std::uint32_t b) {
    return std::pair(blocks[a].end, a) < std::pair(blocks[b].end, b);
  });
  std::vector<Bytes> offsets(blocks.size());
  RangeSet unused;
  unused.insert({0, kEndless});
  auto ending = by_end.begin();
  for (const std::uint32_t row : by_start) {
    const PlannedBlock& block = blocks[row];
    for (; ending != by_end.end() && blocks[*ending].end <= block.start; ++ending) {
      unused.insert({offsets[*ending], offsets[*ending] + blocks[*ending].size});
    }
    // The endless space above all blocks is the largest gap, and so the last choice.
    const Bytes at = round_up(unused.smallest(block.size, block.alignment)->from, block.alignment);
    unused.erase({at, at + block.size});
    offsets[row] = at;
  }
  return packing_of(blocks, std::move(offsets));
}

std::uint64_t overlapping_pairs(std::span<const PlannedBlock> blocks) {
  std::vector<std::uint64_t> starts;
  std::vector<std::uint64_t> ends;
  for (const PlannedBlock& block : blocks) {
    starts.push_back(block.start);
    ends.push_back(block.end);
  }
  std::sort(starts.begin(), starts.end());
  std::sort(ends.begin(), ends.end());
  std::uint64_t pairs = 0;
  std::size_t ended = 0;
  for (std::size_t started = 0; started < starts.size(); ++started) {
    while (ends[ended] <= starts[started]) ++ended;
    pairs += started - ended;
  }
  return pairs;
}

BestPacking best_of_orders(std::span<const PlannedBlock> blocks, PlacingFit fit, std::size_t most) {
  const Bytes bound = lower_bound_of(blocks);
  BestPacking best;
  best.packing.height = UINT64_MAX;
  for (const PlacingOrder order : std::span(kPlacingOrders).first(most)) {
    Packing packing = place_in_order(blocks, placing_order(blocks, order), fit);
    if (packing.height >= best.packing.height) continue;
    best = {std::move(packing), order};
    if (best.packing.height == bound) break;
  }
  return best;
}

Packing best_of_random_orders(std::span<const PlannedBlock> blocks, PlacingFit fit,
                              std::uint64_t seed, int count) {
  std::vector<std::uint32_t> order(blocks.size());
  std::iota(order.begin(), order.end(), 0u);
  std::mt19937_64 random(seed);
  Packing best{{}, UINT64_MAX};
  for (int i = 0; i < count; ++i) {
    // Not std::shuffle: its result is not the same everywhere.
    for (std::size_t left = order.size(); left > 1; --left) {
      std::swap(order[left - 1], order[random() % left]);
    }
    Packing packing = place_in_order(blocks, order, fit);
    if (packing.height < best.height) best = std::move(packing);
  }
  return best;
}

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

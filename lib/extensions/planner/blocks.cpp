#include "extensions/planner/blocks.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <set>

namespace memreplay {
namespace {

struct Moment {
  std::uint64_t time = 0;
  bool starts = false;  ///< ends come first at equal times
  std::size_t block = 0;

  friend auto operator<=>(const Moment&, const Moment&) = default;
};

std::vector<Moment> moments_of(std::span<const PlannedBlock> blocks) {
  std::vector<Moment> moments;
  moments.reserve(2 * blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    moments.push_back({blocks[i].start, true, i});
    moments.push_back({blocks[i].end, false, i});
  }
  std::sort(moments.begin(), moments.end());
  return moments;
}

/// Sums over the live blocks as if each took whole multiples of one alignment.
struct RoundedSum {
  Bytes sum = 0;
  std::multiset<Bytes> slack;  ///< what rounding added to each
};

}  // namespace

std::vector<PlannedBlock> at_own_times(std::vector<PlannedBlock> blocks) {
  std::uint64_t last = 0;
  std::uint64_t count = 0;
  for (const Moment& moment : moments_of(blocks)) {
    if (moment.time > std::exchange(last, moment.time)) ++count;
    (moment.starts ? blocks[moment.block].start : blocks[moment.block].end) = count;
  }
  return blocks;
}

Packing packing_of(std::span<const PlannedBlock> blocks, std::vector<Bytes> offsets) {
  Packing packing{std::move(offsets), 0};
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    packing.height = std::max(packing.height, packing.offsets[i] + blocks[i].size);
  }
  return packing;
}

Bytes total_size(std::span<const PlannedBlock> blocks, Bytes given) {
  Bytes total = given;
  for (const PlannedBlock& block : blocks) {
    if (total >= kEndlessCapacity || block.size >= kEndlessCapacity ||
        block.alignment >= kEndlessCapacity) {
      return kEndlessCapacity;
    }
    total += block.size + block.alignment;
  }
  return std::min(total, kEndlessCapacity);
}

std::optional<std::pair<std::size_t, std::size_t>> first_conflict(
    std::span<const PlannedBlock> blocks, const Packing& packing) {
  std::map<Bytes, std::size_t> live;  // by offset
  for (const Moment& moment : moments_of(blocks)) {
    const PlannedBlock& block = blocks[moment.block];
    const Bytes from = packing.offsets[moment.block];
    if (!moment.starts) {
      live.erase(from);
      continue;
    }
    if (from % block.alignment != 0 || from + block.size > packing.height) {
      return std::pair{moment.block, moment.block};
    }
    const auto above = live.lower_bound(from);
    if (above != live.end() && above->first < from + block.size) {
      return std::pair{above->second, moment.block};
    }
    if (above != live.begin()) {
      const auto& [offset, other] = *std::prev(above);
      if (offset + blocks[other].size > from) return std::pair{other, moment.block};
    }
    live.emplace(from, moment.block);
  }
  return std::nullopt;
}

// At any instant all offsets are multiples of the smallest alignment among the live blocks, so
// every block but the topmost takes whole multiples of it.
Bytes lower_bound_of(std::span<const PlannedBlock> blocks) {
  std::map<Bytes, RoundedSum> by_alignment;
  std::map<Bytes, std::size_t> live_by_alignment;
  for (const PlannedBlock& block : blocks) by_alignment[block.alignment];
  Bytes bound = 0;
  Bytes live = 0;
  for (const Moment& moment : moments_of(blocks)) {
    const PlannedBlock& block = blocks[moment.block];
    for (auto& [alignment, rounded] : by_alignment) {
      const Bytes size = round_up(block.size, alignment);
      if (moment.starts) {
        rounded.sum += size;
        if (size != block.size) rounded.slack.insert(size - block.size);
      } else {
        rounded.sum -= size;
        if (size != block.size) rounded.slack.erase(rounded.slack.find(size - block.size));
      }
    }
    if (!moment.starts) {
      live -= block.size;
      const auto count = live_by_alignment.find(block.alignment);
      if (--count->second == 0) live_by_alignment.erase(count);
      continue;
    }
    live += block.size;
    ++live_by_alignment[block.alignment];
    const RoundedSum& rounded = by_alignment[live_by_alignment.begin()->first];
    const Bytes top = rounded.slack.empty() ? 0 : *rounded.slack.rbegin();
    bound = std::max({bound, live, rounded.sum - top});
  }
  return bound;
}

std::vector<std::vector<Plan::Range>> free_during(std::span<const PlannedBlock> blocks,
                                                  const Packing& packing,
                                                  std::span<const TimeSpan> spans) {
  std::vector<std::uint32_t> by_start(blocks.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::ranges::stable_sort(by_start, {}, [&](std::uint32_t row) { return blocks[row].start; });
  std::vector<std::uint32_t> begun;
  auto next = by_start.begin();
  std::vector<std::vector<Plan::Range>> free;
  for (const TimeSpan& span : spans) {
    std::erase_if(begun, [&](std::uint32_t row) { return blocks[row].end <= span.from; });
    for (; next != by_start.end() && blocks[*next].start < span.to; ++next) {
      if (blocks[*next].end > span.from) begun.push_back(*next);
    }
    std::vector<Plan::Range> taken;
    for (const std::uint32_t row : begun) {
      if (blocks[row].start >= span.to) continue;
      taken.push_back({packing.offsets[row], packing.offsets[row] + blocks[row].size});
    }
    taken.push_back({packing.height, packing.height});
    std::ranges::sort(taken, {}, &Plan::Range::from);
    Bytes at = 0;
    auto& ranges = free.emplace_back();
    for (const Plan::Range& range : taken) {
      if (at < range.from) ranges.push_back({at, range.from});
      at = std::max(at, range.to);
    }
  }
  return free;
}

}  // namespace memreplay

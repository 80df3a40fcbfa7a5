#include "planner/blocks.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <set>
#include <utility>

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

}  // namespace memreplay

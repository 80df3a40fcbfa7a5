#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "extensions/planner/blocks.hpp"

namespace memreplay {

/// Offsets that no block takes; the last one is endless.
struct OffsetGap {
  Bytes from = 0;
  Bytes to = UINT64_MAX;
};

/// What placed blocks leave free during the life of another. At one instant blocks lie close, and
/// their many leave few gaps: these are kept for some instants, and for all of the time between
/// two that are a power of two apart. A life is met by the gaps of O(log n) of them, and by the few
/// blocks at its beginning and end that live at none.
class InstantGaps {
 public:
  explicit InstantGaps(std::span<const PlannedBlock> blocks);

  /// Whether a kept instant is in its life; one without is no question for this.
  bool knows(std::uint32_t row) const { return first_of(row) <= last_of(row); }
  /// During the whole life of a block that it knows, ascending; those smaller than the block may be
  /// left out. Valid until the next call.
  const std::vector<OffsetGap>& gaps_of(std::uint32_t row);
  /// O(instants of its life * gaps of an instant).
  void place(std::uint32_t row, Bytes offset);

 private:
  using Gaps = std::vector<OffsetGap>;
  static constexpr std::uint32_t kApart = 128;  ///< starts from one instant to the next

  /// A placed block that starts or ends between two instants.
  struct Edge {
    std::uint32_t at = 0;
    Bytes from = 0;
    Bytes to = 0;
  };

  // Instants are some of the starts, numbered. Those in the life of a block:
  std::uint32_t first_of(std::uint32_t row) const { return (starts_[row] + kApart - 1) / kApart; }
  std::uint32_t last_of(std::uint32_t row) const { return (ends_[row] - 1) / kApart; }
  void meet(const Gaps& others, Bytes size);
  static void take(Gaps& gaps, Bytes from, Bytes to);

  std::span<const PlannedBlock> blocks_;
  std::vector<std::uint32_t> starts_;  ///< by row, as the number of a start
  std::vector<std::uint32_t> ends_;    ///< likewise, of the first start that is not before it
  std::uint32_t leaves_ = 1;
  std::vector<Gaps> at_instant_;
  std::vector<Gaps> during_;  ///< a tree, whose leaves are an instant and the time to the next one
  std::vector<std::vector<Edge>> starting_;  ///< after an instant, up to the next one
  std::vector<std::vector<Edge>> ending_;    ///< likewise
  Gaps gaps_;
  Gaps met_;
};

/// Some of the blocks, to be asked which of them live during a time. O(log n) to add or remove,
/// O(found * log n) to ask at worst, O(found) where they stand together.
class LiveIndex {
 public:
  explicit LiveIndex(std::span<const PlannedBlock> blocks) : blocks_(blocks) {
    rows_.resize(blocks.size());
    for (std::uint32_t i = 0; i < rows_.size(); ++i) rows_[i] = i;
    std::sort(rows_.begin(), rows_.end(), [&](std::uint32_t a, std::uint32_t b) {
      return blocks[a].start != blocks[b].start ? blocks[a].start < blocks[b].start : a < b;
    });
    leaf_of_.resize(rows_.size());
    starts_.reserve(rows_.size());
    for (std::uint32_t leaf = 0; leaf < rows_.size(); ++leaf) {
      leaf_of_[rows_[leaf]] = leaf;
      starts_.push_back(blocks[rows_[leaf]].start);
    }
    ends_.assign(round_up(rows_.size(), kBucket), 0);
    width_ = std::bit_ceil(std::max<std::size_t>(ends_.size() / kBucket, 1));
    latest_end_.assign(2 * width_, 0);
  }

  void add(std::uint32_t row) { set(row, blocks_[row].end); }
  void remove(std::uint32_t row) { set(row, 0); }

  /// Every row that is in and lives at some time in [from, to), by start. `visit` may change
  /// nothing.
  template <typename Visit>
  void for_each(std::uint64_t from, std::uint64_t to, const Visit& visit) const {
    const auto leaves = static_cast<std::size_t>(
        std::lower_bound(starts_.begin(), starts_.end(), to) - starts_.begin());
    if (leaves != 0) descend(1, 0, width_, leaves, from, visit);
  }

 private:
  static constexpr std::size_t kBucket = 16;  ///< leaves that are looked at one by one

  void set(std::uint32_t row, std::uint64_t end) {
    const std::size_t leaf = leaf_of_[row];
    const std::size_t bucket = leaf / kBucket;
    ends_[leaf] = end;
    const auto first = ends_.begin() + static_cast<std::ptrdiff_t>(bucket * kBucket);
    std::size_t node = width_ + bucket;
    latest_end_[node] = *std::max_element(first, first + kBucket);
    for (node /= 2; node != 0; node /= 2) {
      latest_end_[node] = std::max(latest_end_[2 * node], latest_end_[2 * node + 1]);
    }
  }

  /// `node` stands for `width` buckets from `first` on.
  template <typename Visit>
  void descend(std::size_t node, std::size_t first, std::size_t width, std::size_t leaves,
               std::uint64_t from, const Visit& visit) const {
    if (first * kBucket >= leaves || latest_end_[node] <= from) return;
    if (width == 1) {
      const std::size_t to = std::min(leaves, (first + 1) * kBucket);
      for (std::size_t leaf = first * kBucket; leaf < to; ++leaf) {
        if (ends_[leaf] > from) visit(rows_[leaf]);
      }
      return;
    }
    descend(2 * node, first, width / 2, leaves, from, visit);
    descend(2 * node + 1, first + width / 2, width / 2, leaves, from, visit);
  }

  std::span<const PlannedBlock> blocks_;
  std::vector<std::uint32_t> rows_;  ///< by start
  std::vector<std::uint32_t> leaf_of_;
  std::vector<std::uint64_t> starts_;
  std::vector<std::uint64_t> ends_;  ///< by leaf; 0: not in
  std::size_t width_ = 1;
  std::vector<std::uint64_t> latest_end_;  ///< a tree over the buckets
};

}  // namespace memreplay

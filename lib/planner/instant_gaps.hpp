#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner/blocks.hpp"

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

}  // namespace memreplay

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/range_set.hpp"

namespace memreplay {

/// The equal parts of a range, of which the lowest free one is taken first. A call costs O(1) but
/// for a search after many were taken.
class Slots {
 public:
  Slots() = default;
  explicit Slots(std::uint32_t count)
      : count_(count), free_((std::size_t{count} + 63) / 64, UINT64_MAX) {
    if (count % 64 != 0) free_.back() >>= 64 - count % 64;
  }

  std::uint32_t count() const { return count_; }
  std::uint32_t taken() const { return taken_; }
  bool full() const { return taken_ == count_; }
  std::uint32_t take() {
    while (free_[lowest_] == 0) ++lowest_;
    std::uint64_t& word = free_[lowest_];
    const auto bit = static_cast<std::uint32_t>(std::countr_zero(word));
    word &= word - 1;
    ++taken_;
    return lowest_ * 64 + bit;
  }
  void put(std::uint32_t slot) {
    free_[slot / 64] |= std::uint64_t{1} << slot % 64;
    lowest_ = std::min(lowest_, slot / 64);
    --taken_;
  }
  /// Runs of free slots, where the first slot begins at `at`.
  void add_free_ranges(Address at, Bytes size, std::vector<AddressRange>& ranges) const {
    bool joins = false;
    for (std::uint32_t slot = 0; slot < count_; ++slot, at += size) {
      const bool is_free = (free_[slot / 64] >> slot % 64 & 1) != 0;
      if (is_free && joins) ranges.back().to += size;
      if (is_free && !joins) ranges.push_back({at, at + size});
      joins = is_free;
    }
  }

 private:
  std::uint32_t count_ = 0;
  std::uint32_t taken_ = 0;
  std::uint32_t lowest_ = 0;  ///< no word below it has a free slot
  std::vector<std::uint64_t> free_;
};

}  // namespace memreplay

#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/request.hpp"

namespace memreplay {

/// Free blocks as TLSF lists them: one list, last in, first out, for each multiple of 8 below
/// 2^(log2 + 3), and 2^log2 lists for each doubling above. Sizes are below 2^32. All but `largest`
/// is O(1).
class TwoLevelLists {
 public:
  static constexpr Bytes kSizesEnd = Bytes{1} << 32;

  explicit TwoLevelLists(std::uint32_t second_level_log2)
      : log2_(second_level_log2),
        heads_(number_of(kSizesEnd - 1) + 1, kNoHandle),
        used_((heads_.size() + 63) / 64) {}

  void push(Handle block, Bytes size) {
    if (block >= entries_.size()) entries_.resize(block + 1);
    const std::uint32_t list = number_of(size);
    const Handle older = heads_[list];
    entries_[block] = {size, kNoHandle, older};
    if (older != kNoHandle) entries_[older].newer = block;
    heads_[list] = block;
    used_[list / 64] |= std::uint64_t{1} << list % 64;
    ++count_;
    bytes_ += size;
  }

  void remove(Handle block) {
    const Entry gone = entries_[block];
    if (gone.older != kNoHandle) entries_[gone.older].newer = gone.newer;
    --count_;
    bytes_ -= gone.size;
    if (gone.newer != kNoHandle) {
      entries_[gone.newer].older = gone.older;
      return;
    }
    const std::uint32_t list = number_of(gone.size);
    heads_[list] = gone.older;
    if (gone.older == kNoHandle) used_[list / 64] &= ~(std::uint64_t{1} << list % 64);
  }

  /// The newest of the first list of which every block has the size. One in the list of the size
  /// itself may be passed over, though it would do.
  Handle find(Bytes size) const {
    const Bytes least = least_of_sure_list(size);
    if (least >= kSizesEnd) return kNoHandle;
    const std::uint32_t list = number_of(least);
    std::uint64_t word = list / 64;
    std::uint64_t bits = used_[word] & ~std::uint64_t{0} << list % 64;
    while (bits == 0 && ++word < used_.size()) bits = used_[word];
    if (bits == 0) return kNoHandle;
    return heads_[64 * word + static_cast<std::uint64_t>(std::countr_zero(bits))];
  }

  /// Whether `find` would find a block of `block` bytes.
  bool would_find(Bytes size, Bytes block) const {
    const Bytes least = least_of_sure_list(size);
    return least < kSizesEnd && number_of(block) >= number_of(least);
  }

  std::size_t count() const { return count_; }
  Bytes bytes() const { return bytes_; }
  Bytes size_of(Handle block) const { return entries_[block].size; }
  /// O(blocks in the highest list).
  Bytes largest() const {
    std::uint64_t word = used_.size();
    while (word > 0 && used_[word - 1] == 0) --word;
    if (word == 0) return 0;
    const auto top = 64 * word - 1 - static_cast<std::uint64_t>(std::countl_zero(used_[word - 1]));
    Bytes largest = 0;
    for (Handle at = heads_[top]; at != kNoHandle; at = entries_[at].older) {
      largest = std::max(largest, entries_[at].size);
    }
    return largest;
  }

 private:
  struct Entry {
    Bytes size = 0;
    Handle newer = kNoHandle;
    Handle older = kNoHandle;
  };

  std::uint32_t doubling_of(Bytes size) const {
    return static_cast<std::uint32_t>(std::bit_width(size)) - 1;
  }
  bool is_small(Bytes size) const { return size < Bytes{8} << log2_; }
  /// Lists are numbered by the sizes in them.
  std::uint32_t number_of(Bytes size) const {
    if (is_small(size)) return static_cast<std::uint32_t>(size / 8);
    const std::uint32_t doubling = doubling_of(size);
    const auto within = static_cast<std::uint32_t>(size >> (doubling - log2_));
    return ((doubling - log2_ - 3) << log2_) + within;
  }
  Bytes least_of_sure_list(Bytes size) const {
    if (is_small(size)) return size;
    return size + (Bytes{1} << (doubling_of(size) - log2_)) - 1;
  }

  std::uint32_t log2_;
  std::vector<Handle> heads_;        ///< the newest of each list
  std::vector<std::uint64_t> used_;  ///< a bit for each list that has a block
  std::vector<Entry> entries_;       ///< by block
  std::size_t count_ = 0;
  Bytes bytes_ = 0;
};

}  // namespace memreplay

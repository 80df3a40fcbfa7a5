#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/request.hpp"
#include "strategy/parts/numbered_lists.hpp"

namespace memreplay {

/// Free blocks as TLSF lists them: one list, last in, first out, for each multiple of 8 below
/// 2^(log2 + 3), and 2^log2 lists for each doubling above. Sizes are below 2^32. All but `largest`
/// is O(1).
class TwoLevelLists {
 public:
  static constexpr Bytes kSizesEnd = Bytes{1} << 32;

  explicit TwoLevelLists(std::uint32_t second_level_log2)
      : log2_(second_level_log2), lists_(number_of(kSizesEnd - 1) + 1) {}

  void push(Handle block, Bytes size) {
    if (block >= sizes_.size()) sizes_.resize(block + 1);
    sizes_[block] = size;
    bytes_ += size;
    lists_.push(block, number_of(size));
  }

  void remove(Handle block) {
    bytes_ -= sizes_[block];
    lists_.remove(block);
  }

  /// The newest of the first list of which every block has the size. One in the list of the size
  /// itself may be passed over, though it would do.
  Handle find(Bytes size) const {
    const Bytes least = least_of_sure_list(size);
    if (least >= kSizesEnd) return kNoHandle;
    const std::uint32_t list = lists_.first_from(number_of(least));
    return list == NumberedLists::kNone ? kNoHandle : lists_.newest(list);
  }

  /// Whether `find` would find a block of `block` bytes.
  bool would_find(Bytes size, Bytes block) const {
    const Bytes least = least_of_sure_list(size);
    return least < kSizesEnd && number_of(block) >= number_of(least);
  }

  std::size_t count() const { return lists_.count(); }
  Bytes bytes() const { return bytes_; }
  /// O(blocks in the highest list).
  Bytes largest() const {
    Bytes largest = 0;
    lists_.for_each_in_last([&](Handle at) { largest = std::max(largest, sizes_[at]); });
    return largest;
  }

 private:
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
  NumberedLists lists_;
  std::vector<Bytes> sizes_;  ///< by block
  Bytes bytes_ = 0;
};

}  // namespace memreplay

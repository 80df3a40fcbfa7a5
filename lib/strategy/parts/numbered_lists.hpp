#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "core/request.hpp"

namespace memreplay {

/// Blocks in lists by number, each last in, first out, with a bitmap of the lists that hold any.
/// O(1) a call, but for one word of the bitmap for each 64 lists passed over.
class NumberedLists {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  explicit NumberedLists(std::uint32_t lists)
      : newest_(lists, kNoHandle), used_((lists + 63) / 64) {}

  void push(Handle block, std::uint32_t list) {
    if (block >= entries_.size()) entries_.resize(block + 1);
    const Handle older = newest_[list];
    entries_[block] = {list, kNoHandle, older};
    if (older != kNoHandle) entries_[older].newer = block;
    newest_[list] = block;
    used_[list / 64] |= std::uint64_t{1} << list % 64;
    ++count_;
  }

  void remove(Handle block) {
    const Entry gone = entries_[block];
    --count_;
    if (gone.older != kNoHandle) entries_[gone.older].newer = gone.newer;
    if (gone.newer != kNoHandle) {
      entries_[gone.newer].older = gone.older;
      return;
    }
    newest_[gone.list] = gone.older;
    if (gone.older == kNoHandle) used_[gone.list / 64] &= ~(std::uint64_t{1} << gone.list % 64);
  }

  /// The first list from this one on that holds a block.
  std::uint32_t first_from(std::uint32_t list) const {
    std::uint32_t word = list / 64;
    if (word >= used_.size()) return kNone;
    std::uint64_t bits = used_[word] & ~std::uint64_t{0} << list % 64;
    while (bits == 0 && ++word < used_.size()) bits = used_[word];
    return bits == 0 ? kNone : 64 * word + static_cast<std::uint32_t>(std::countr_zero(bits));
  }
  /// Visits every block of the last list that holds any.
  template <typename Visit>
  void for_each_in_last(const Visit& visit) const {
    auto word = static_cast<std::uint32_t>(used_.size());
    while (word > 0 && used_[word - 1] == 0) --word;
    if (word == 0) return;
    const auto top = 64 * word - 1 - static_cast<std::uint32_t>(std::countl_zero(used_[word - 1]));
    for (Handle at = newest_[top]; at != kNoHandle; at = entries_[at].older) visit(at);
  }

  Handle newest(std::uint32_t list) const { return newest_[list]; }
  /// The next block of the list; kNoHandle after the last.
  Handle older(Handle block) const { return entries_[block].older; }
  std::size_t count() const { return count_; }

 private:
  struct Entry {
    std::uint32_t list = 0;
    Handle newer = kNoHandle;
    Handle older = kNoHandle;
  };

  std::vector<Handle> newest_;       ///< by list
  std::vector<std::uint64_t> used_;  ///< a bit for each list
  std::vector<Entry> entries_;       ///< by block
  std::size_t count_ = 0;
};

}  // namespace memreplay

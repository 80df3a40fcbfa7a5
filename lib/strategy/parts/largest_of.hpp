#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// The largest of the values that many members have; only those that changed are asked again.
class LargestOf {
 public:
  /// The member's value may have changed. O(1).
  void note(std::uint32_t member) {
    if (member >= noted_.size()) noted_.resize(std::size_t{member} + 1, 0);
    if (noted_[member] != 0) return;
    noted_[member] = 1;
    changed_.push_back(member);
  }

  /// `value_of(member)` tells the value now; 0 where there is no member. O(log) for each change.
  template <typename ValueOf>
  Bytes get(const ValueOf& value_of) {
    if (noted_.size() > width_) widen();
    for (const std::uint32_t member : changed_) {
      noted_[member] = 0;
      std::size_t at = width_ + member;
      for (tree_[at] = value_of(member); at > 1; at /= 2) {
        tree_[at / 2] = std::max(tree_[at], tree_[at ^ 1]);
      }
    }
    changed_.clear();
    return tree_[1];
  }

 private:
  void widen() {
    const std::size_t width = std::bit_ceil(noted_.size());
    std::vector<Bytes> tree(2 * width, 0);
    std::copy_n(tree_.begin() + static_cast<std::ptrdiff_t>(width_), width_,
                tree.begin() + static_cast<std::ptrdiff_t>(width));
    tree_ = std::move(tree);
    width_ = width;
    for (std::size_t at = width_; at-- > 1;) tree_[at] = std::max(tree_[2 * at], tree_[2 * at + 1]);
  }

  std::vector<std::uint8_t> noted_;  ///< by member
  std::vector<std::uint32_t> changed_;
  std::size_t width_ = 1;
  std::vector<Bytes> tree_ = {0,
                              0};  ///< the members' from `width_` on, above them the larger of two
};

}  // namespace memreplay

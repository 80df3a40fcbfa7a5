#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// Values in places from 0 on, 0 at first, of which the largest is known.
class MaxTree {
 public:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  /// From now on there are so many places at least. O(places) where they become more.
  void reach(std::size_t places) {
    if (places <= leaves_) return;
    const std::size_t leaves = std::bit_ceil(places);
    std::vector<Bytes> tree(2 * leaves, 0);
    std::copy_n(tree_.begin() + static_cast<std::ptrdiff_t>(leaves_), leaves_,
                tree.begin() + static_cast<std::ptrdiff_t>(leaves));
    tree_ = std::move(tree);
    leaves_ = leaves;
    for (std::size_t at = leaves_; at-- > 1;) {
      tree_[at] = std::max(tree_[2 * at], tree_[2 * at + 1]);
    }
  }

  Bytes top() const { return tree_[1]; }
  Bytes at(std::uint32_t place) const { return tree_[leaves_ + place]; }
  /// O(log places).
  void set(std::uint32_t place, Bytes value) {
    std::size_t at = leaves_ + place;
    tree_[at] = value;
    for (; at > 1; at /= 2) {
      const Bytes larger = std::max(tree_[at], tree_[at ^ 1]);
      if (std::exchange(tree_[at / 2], larger) == larger) return;
    }
  }

  /// The first place from `place` on with that value at least, which is above 0; kNone: there is
  /// none. O(log places).
  std::uint32_t next(std::uint32_t place, Bytes least) const {
    if (place >= leaves_) return kNone;
    std::size_t node = leaves_ + place;
    while (tree_[node] < least) {
      if (std::has_single_bit(node + 1)) return kNone;
      ++node;
      while (node % 2 == 0) node /= 2;
    }
    while (node < leaves_) node = 2 * node + (tree_[2 * node] < least);
    return static_cast<std::uint32_t>(node - leaves_);
  }

 private:
  std::size_t leaves_ = 1;
  std::vector<Bytes> tree_ = {0, 0};  ///< the places' values, and above each two the larger
};

}  // namespace memreplay

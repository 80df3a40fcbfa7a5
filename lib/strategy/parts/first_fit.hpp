#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "strategy/parts/best_fit.hpp"

namespace memreplay {

/// Free blocks by address: an ordered set for the search of the lowest that is large enough.
///
/// Blocks lie sorted in leaves; beside the leaves, and beside groups of them, stands the largest
/// size within. A search looks at n / 1000 groups at most, then at one group and one leaf; a change
/// touches one leaf, and shifts the directory where a leaf fills or empties.
class FirstFit {
 public:
  void insert(Address address, Bytes size, Handle block);
  void erase(Address address);
  /// The block at `old` becomes another, which has the same neighbours in the order.
  void replace(Address old, Address address, Bytes size, Handle block);

  /// The lowest, from `from` on, with room for it.
  Handle lowest(const Wanted& wanted, Address from = 0) const;
  Bytes largest() const;
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const std::uint32_t leaf : order_) {
      for (std::uint32_t i = 0; i < leaves_[leaf].count; ++i) {
        visit(leaves_[leaf].addresses[i], leaves_[leaf].sizes[i]);
      }
    }
  }

 private:
  static constexpr std::uint32_t kLeaf = 32;
  static constexpr std::uint32_t kGroup = 32;

  struct Leaf {
    std::uint32_t count = 0;
    std::array<Address, kLeaf> addresses = {};
    std::array<Bytes, kLeaf> sizes = {};
    std::array<Handle, kLeaf> blocks = {};
  };

  std::size_t leaf_of(Address address) const;
  void add_leaf(std::size_t at, const Leaf& leaf);
  void remove_leaf(std::size_t at);
  void note(std::size_t at);
  void regroup(std::size_t from);

  std::vector<Leaf> leaves_;
  std::vector<std::uint32_t> unused_;
  // By address:
  std::vector<std::uint32_t> order_;
  std::vector<Address> first_;
  std::vector<Bytes> largest_;
  std::vector<Bytes> largest_of_group_;
};

}  // namespace memreplay

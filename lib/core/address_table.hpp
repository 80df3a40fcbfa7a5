#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// The values that live at addresses. A flat hash table with linear probing: a recording frees
/// about as often as it allocates, and nodes of their own cost more than the search. O(1) each.
template <typename Value>
class AddressTable {
 public:
  /// The value at `address`; null where nothing is there. Pointers hold until the next insertion or
  /// removal.
  Value* find(Address address) {
    if (cells_.empty()) return nullptr;
    Cell& cell = cells_[place_of(address)];
    return cell.used ? &cell.value : nullptr;
  }

  /// The value at `address`, new ones default, and whether it is new.
  std::pair<Value*, bool> emplace(Address address) {
    if ((count_ + 1) * 2 > cells_.size()) grow();
    Cell& cell = cells_[place_of(address)];
    const bool fresh = !cell.used;
    if (fresh) {
      cell = {address, true, {}};
      ++count_;
    }
    return {&cell.value, fresh};
  }

  /// Removes the value at `address`, which must be there.
  void erase(Address address) {
    std::size_t hole = place_of(address);
    cells_[hole].used = false;
    --count_;
    // What was pushed past the hole moves back, so that a search may stop at the first empty cell.
    for (std::size_t at = next(hole); cells_[at].used; at = next(at)) {
      const std::size_t home = home_of(cells_[at].address);
      const bool may_move = ((at - home) & mask()) >= ((at - hole) & mask());
      if (!may_move) continue;
      cells_[hole] = std::move(cells_[at]);
      cells_[at].used = false;
      hole = at;
    }
  }

  /// Visits every address and its value, in no order.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const Cell& cell : cells_) {
      if (cell.used) visit(cell.address, cell.value);
    }
  }

 private:
  struct Cell {
    Address address = 0;
    bool used = false;
    Value value{};
  };

  std::size_t mask() const { return cells_.size() - 1; }
  std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
  std::size_t home_of(Address address) const {
    return static_cast<std::size_t>((address * 0x9E3779B97F4A7C15u) >> 32) & mask();
  }
  std::size_t place_of(Address address) const {
    std::size_t at = home_of(address);
    while (cells_[at].used && cells_[at].address != address) at = next(at);
    return at;
  }
  void grow() {
    std::vector<Cell> old(cells_.empty() ? 64 : cells_.size() * 2);
    std::swap(old, cells_);
    for (Cell& cell : old) {
      if (cell.used) cells_[place_of(cell.address)] = std::move(cell);
    }
  }

  std::vector<Cell> cells_;  ///< a power of two of them, at most half in use
  std::size_t count_ = 0;
};

}  // namespace memreplay

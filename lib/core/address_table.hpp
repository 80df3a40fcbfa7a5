#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "core/units.hpp"

namespace memreplay {

/// The values that live at addresses. A flat hash table with linear probing: a recording frees
/// about as often as it allocates, and nodes of their own cost more than the search. The values
/// stand beside the cells, so that these, which lie anywhere, stay in the caches. O(1) each.
template <typename Value>
class AddressTable {
 public:
  /// The value at `address`; null where nothing is there. Pointers hold until the next insertion or
  /// removal.
  Value* find(Address address) {
    if (cells_.empty()) return nullptr;
    const Cell& cell = cells_[place_of(address)];
    return cell.entry == kNone ? nullptr : &entries_[cell.entry].value;
  }

  /// The value at `address`, new ones default, and whether it is new.
  std::pair<Value*, bool> emplace(Address address) {
    if ((entries_.size() - left_.size() + 1) * 4 > cells_.size()) grow();
    Cell& cell = cells_[place_of(address)];
    const bool fresh = cell.entry == kNone;
    if (fresh) cell = {hash_of(address), new_entry(address)};
    return {&entries_[cell.entry].value, fresh};
  }

  /// Removes the value at `address`, which must be there.
  void erase(Address address) {
    std::size_t hole = place_of(address);
    left_.push_back(std::exchange(cells_[hole].entry, kNone));
    entries_[left_.back()].value = {};
    // What was pushed past the hole moves back, so that a search may stop at the first empty cell.
    for (std::size_t at = next(hole); cells_[at].entry != kNone; at = next(at)) {
      const std::size_t home = cells_[at].hash & mask();
      const bool may_move = ((at - home) & mask()) >= ((at - hole) & mask());
      if (!may_move) continue;
      cells_[hole] = cells_[at];
      cells_[at].entry = kNone;
      hole = at;
    }
  }

  /// Visits every address and its value, in no order.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const Cell& cell : cells_) {
      if (cell.entry != kNone) visit(entries_[cell.entry].address, entries_[cell.entry].value);
    }
  }

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Cell {
    std::uint32_t hash = 0;
    std::uint32_t entry = kNone;
  };
  struct Entry {
    Address address = 0;
    Value value{};
  };

  static std::uint32_t hash_of(Address address) {
    return static_cast<std::uint32_t>((address * 0x9E3779B97F4A7C15u) >> 32);
  }
  std::size_t mask() const { return cells_.size() - 1; }
  std::size_t next(std::size_t at) const { return (at + 1) & mask(); }
  std::size_t place_of(Address address) const {
    const std::uint32_t hash = hash_of(address);
    for (std::size_t at = hash & mask();; at = next(at)) {
      const Cell& cell = cells_[at];
      if (cell.entry == kNone) return at;
      if (cell.hash == hash && entries_[cell.entry].address == address) return at;
    }
  }
  std::uint32_t new_entry(Address address) {
    if (left_.empty()) {
      entries_.push_back({address, {}});
      return static_cast<std::uint32_t>(entries_.size() - 1);
    }
    const std::uint32_t entry = left_.back();
    left_.pop_back();
    entries_[entry].address = address;
    return entry;
  }
  void grow() {
    std::vector<Cell> old(cells_.empty() ? 64 : cells_.size() * 2);
    std::swap(old, cells_);
    for (const Cell& cell : old) {
      if (cell.entry == kNone) continue;
      std::size_t at = cell.hash & mask();
      while (cells_[at].entry != kNone) at = next(at);
      cells_[at] = cell;
    }
  }

  std::vector<Cell> cells_;  ///< a power of two of them, at most a quarter in use
  std::vector<Entry> entries_;
  std::vector<std::uint32_t> left_;  ///< indices of unused `entries_`, to be reused
};

/// Memory for a table whose rows are looked at in no order: where it is large, on pages of 2 MiB if
/// the system has them, since with small ones each look waits for the address of its page, too.
template <typename T>
class HugePages {
 public:
  using value_type = T;

  HugePages() = default;
  template <typename Other>
  HugePages(const HugePages<Other>&) {}  // NOLINT: as allocators do

  T* allocate(std::size_t count) {
    if (!are_worth_it(count)) return std::allocator<T>().allocate(count);
    const std::size_t bytes = count * sizeof(T);
    void* const memory = ::operator new (bytes, std::align_val_t{kHugePage});
    madvise(memory, bytes / kSmallPage * kSmallPage, MADV_HUGEPAGE);  // nothing is lost without
    return static_cast<T*>(memory);
  }
  void deallocate(T* rows, std::size_t count) {
    if (!are_worth_it(count)) return std::allocator<T>().deallocate(rows, count);
    ::operator delete (rows, std::align_val_t{kHugePage});
  }
  friend bool operator==(const HugePages&, const HugePages&) { return true; }

 private:
  static constexpr std::size_t kSmallPage = 4 * kKiB;
  static constexpr std::size_t kHugePage = 2 * kMiB;

  static bool are_worth_it(std::size_t count) {
    return count >= 2 * kHugePage / sizeof(T) && count <= SIZE_MAX / 2 / sizeof(T);
  }
};

template <typename T>
using TableOf = std::vector<T, HugePages<T>>;

}  // namespace memreplay

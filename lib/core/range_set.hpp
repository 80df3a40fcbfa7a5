#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "core/units.hpp"

namespace memreplay {

struct AddressRange {
  Address from = 0;
  Address to = 0;

  Bytes size() const { return to - from; }
  friend bool operator==(const AddressRange&, const AddressRange&) = default;
};

/// Disjoint address ranges, to be found by place and by size. Sizes stay below 2^63.
class RangeSet {
 public:
  enum class Neighbours { join, stay_apart };

  explicit RangeSet(Neighbours neighbours = Neighbours::join) : neighbours_(neighbours) {}

  /// Adds a range. Throws std::logic_error when a byte of it is in the set already. O(log n).
  void insert(AddressRange range);
  /// Takes part of one range out. False, and nothing changes, when no range holds all of it.
  bool erase(AddressRange part);

  /// The range that holds this byte.
  std::optional<AddressRange> at(Address byte) const;
  /// The lowest range that ends above this address.
  std::optional<AddressRange> above(Address address) const;
  /// The lowest range with room for `size` bytes at a multiple of `alignment`. O(log n), but for
  /// ranges less than twice the size, which are tried by address.
  std::optional<AddressRange> lowest(Bytes size, Bytes alignment = 1) const;
  /// The smallest range with room for `size` bytes at a multiple of `alignment`, the lowest of
  /// equals. O(log n) where alignment changes nothing.
  std::optional<AddressRange> smallest(Bytes size, Bytes alignment = 1) const;

  Bytes total() const { return total_; }
  Bytes largest() const { return by_size_.empty() ? 0 : by_size_.rbegin()->first; }
  bool empty() const { return by_address_.empty(); }
  const std::map<Address, Address>& ranges() const { return by_address_; }  ///< from -> to

 private:
  void add(AddressRange range);
  void remove(std::map<Address, Address>::iterator place);

  Neighbours neighbours_;
  Bytes total_ = 0;
  std::map<Address, Address> by_address_;
  std::set<std::pair<Bytes, Address>> by_size_;
  std::array<std::set<Address>, 64> by_log2_;  ///< entry k: sizes in [2^k, 2^(k+1))
};

}  // namespace memreplay

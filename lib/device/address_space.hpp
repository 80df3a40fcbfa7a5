#pragma once

#include <map>
#include <optional>

#include "core/range_set.hpp"
#include "core/units.hpp"

namespace memreplay {

enum class AddressPolicy {
  upward,     ///< addresses are never given twice
  first_fit,  ///< the lowest hole that fits; neighbouring holes join at once
};

/// Hands out address ranges from 2^44 on, in whole units.
class AddressSpace {
 public:
  /// Each range is followed by a hole of at least `gap` bytes.
  AddressSpace(AddressPolicy policy, Bytes unit, Bytes gap);

  /// A free range of addresses; nothing when none of that size is left.
  std::optional<Address> take(Bytes size);
  /// Takes a range at a place that the caller names; throws std::logic_error when it is taken, or
  /// was and is never to be given again.
  void claim(Address at, Bytes size);
  /// Gives nothing of a range from now on, as far as it is not taken. It can still be claimed.
  void avoid(Address at, Bytes size);
  /// Gives only what lies above, as long as there is something. Only with upward.
  void go_on_above(Address at);
  /// Gives back the range that begins at an address that was given. With first_fit,
  /// std::logic_error for any other.
  void give_back(Address at);

 private:
  std::optional<Address> next_upward(Bytes size) const;
  void fill_holes(Address at, Address end);

  AddressPolicy policy_;
  Bytes unit_;
  Bytes gap_;
  Address next_;
  std::map<Address, Address> taken_;    ///< from -> to; with upward only what was claimed
  std::map<Address, Address> avoided_;  ///< from -> to; only with upward
  RangeSet holes_;                      ///< first_fit: whole units without any part taken
};

}  // namespace memreplay

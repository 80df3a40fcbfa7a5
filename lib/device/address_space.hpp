#pragma once

#include <map>
#include <optional>

#include "core/address_policy.hpp"
#include "core/range_set.hpp"
#include "core/units.hpp"
#include "device/driver_addresses.hpp"

namespace memreplay {

/// What addresses are for.
enum class AddressPurpose { region, reservation };

/// Hands out address ranges from 2^44 on, in whole units; those of cuda_linux lie below 2^47, and
/// above it reservations.
class AddressSpace {
 public:
  /// Each range is followed by a hole of at least `gap` bytes.
  AddressSpace(AddressPolicy policy, Bytes unit, Bytes gap);

  /// A free range of addresses; unset when none of that size is left.
  std::optional<Address> take(Bytes size, AddressPurpose use);
  /// Where the driver lets small regions share its units: what one of that size takes of the
  /// device's memory, which may be nothing.
  std::optional<Bytes> shared_charge(Bytes size) const;
  /// Takes a range at a place that the caller names; throws std::logic_error when it is taken, or
  /// was and is never to be given again.
  void claim(Address at, Bytes size, AddressPurpose use);
  /// Gives nothing of a range from now on, as far as it is not taken. It can still be claimed.
  void avoid(Address at, Bytes size);
  /// Gives only what lies above, as long as there is something. Only with upward.
  void go_on_above(Address at);
  /// Gives back the range that begins at an address that was given. With first_fit,
  /// std::logic_error for any other. The bytes of the device that were shared and are free now.
  Bytes give_back(Address at);

 private:
  bool shares(Bytes size) const;
  /// It takes whatever no policy is for.
  bool goes_upward() const { return policy_ != AddressPolicy::first_fit; }
  std::optional<Address> next_upward(Bytes size) const;
  void fill_holes(Address at, Address end);

  AddressPolicy policy_;
  Bytes unit_;
  Bytes gap_;
  Address next_;
  std::optional<DriverAddresses> driver_;  ///< cuda_linux: of regions below 2^47
  bool driver_is_fresh_ = true;            ///< nothing was claimed from it, or taken
  std::map<Address, Address> taken_;       ///< from -> to; with upward only what was claimed
  std::map<Address, Address> avoided_;     ///< from -> to; only with upward
  RangeSet holes_;                         ///< first_fit: whole units without any part taken
};

}  // namespace memreplay

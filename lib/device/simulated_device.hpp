#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/address_policy.hpp"
#include "core/address_table.hpp"
#include "core/other_tenant.hpp"
#include "core/range_set.hpp"
#include "core/units.hpp"
#include "device/device_model.hpp"
#include "device/driver_addresses.hpp"

namespace memreplay {

/// What addresses are for.
enum class AddressPurpose { region, reservation };

/// Hands out address ranges from 2^44 on, in whole units; those of cuda_linux lie below 2^47, and
/// above it reservations; those of downward below 2^52, which are first_fit's counted from the top.
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
  bool goes_downward() const { return policy_ == AddressPolicy::downward; }
  bool reuses() const { return policy_ == AddressPolicy::first_fit || goes_downward(); }
  /// Where a range begins in the order in which holes are tried, and the other way round.
  Address mirrored(Address at, Bytes size) const {
    return goes_downward() ? UINT64_MAX - at - size : at;
  }
  /// The range that begins there.
  std::map<Address, Address>::iterator taken_at(Address at);
  std::optional<Address> next_upward(Bytes size) const;
  void fill_holes(Address at, Address end);

  AddressPolicy policy_;
  Bytes unit_;
  Bytes gap_;
  Address next_;
  std::optional<DriverAddresses> driver_;  ///< cuda_linux: of regions below 2^47
  bool driver_is_fresh_ = true;            ///< nothing was claimed from it, or taken
  std::map<Address, Address> taken_;    ///< from -> to; where nothing is reused, what was claimed
  std::map<Address, Address> avoided_;  ///< from -> to, apart; only where nothing is reused
  Address first_ = 0;                   ///< where addresses are reused, all lie in [first_, end_)
  Address end_ = 0;
  RangeSet holes_;  ///< in these, whole units without any part taken
};

/// What the device of a recording did that a replay under the recording's own settings takes over.
enum class LikeRecorded {
  nothing,
  addresses,               ///< as long as the device is asked for the same
  addresses_and_refusals,  ///< likewise; then the capacity decides over refusals
};

struct SimulatedDeviceOptions {
  std::optional<Bytes> capacity;                 ///< unset: never full
  Bytes reserve = 0;                             ///< part of the capacity that others hold
  Bytes granularity = 2 * kMiB;                  ///< a region is charged in whole granules; above 0
  AddressPolicy policy = AddressPolicy::upward;  ///< automatic counts as upward
  Bytes address_gap = 0;                         ///< hole after each region and reservation
  /// Bound on regions and reservations together; unset: endless.
  std::optional<Bytes> address_space = {};
  LikeRecorded like_recorded = LikeRecorded::nothing;
  /// Other users of the capacity; a Trial has them come and go.
  std::vector<OtherTenant> tenants = {};

  /// The part of the capacity that others leave; unset: endless.
  std::optional<Bytes> room() const {
    if (!capacity) return std::nullopt;
    return *capacity - std::min(*capacity, reserve);
  }
};

/// A device that exists in numbers only. With addresses upward a region costs O(1), else O(log
/// regions); mapped memory costs O(log runs).
class SimulatedDevice final : public DeviceModel, public VirtualMemory {
 public:
  explicit SimulatedDevice(const SimulatedDeviceOptions& options = {});

  std::unique_ptr<DeviceModel> clone() const override;
  std::optional<Address> obtain(Bytes size) override;
  void give_back(Address region) override;
  void adopt(Address region, Bytes size, bool mapped) override;
  VirtualMemory* virtual_memory() override { return this; }
  Bytes total_bytes() const override;
  Bytes free_bytes() const override;
  const DeviceUsage& usage() const override { return usage_; }
  /// True where a region of that size, or a mapping, would be granted now.
  bool has_room_for(Bytes size) const;
  /// Counts a call that was not made because the memory itself had no room for it.
  void refuse() { ++usage_.refusals; }
  /// Makes a refusal of the last grant: the memory itself could not follow.
  void take_back(Address region);

  /// Grants a region at a place that the caller names, whatever room there is. The addresses are
  /// the caller's to watch over.
  void obtain_at(Address at, Bytes size);
  /// Others hold that much from now on, beside the reserve.
  void let_others_hold(Bytes size);
  /// So much of what is held is returned for now. What the device lacks to have the rest back.
  Bytes let_sleep(Bytes size);
  /// The most that others wanted and did not find.
  Bytes missed_by_others() const { return missed_by_others_; }
  void set_capacity(std::optional<Bytes> capacity) { options_.capacity = capacity; }
  /// Addresses given from now on lie above this one. Only with addresses upward.
  void go_on_above(Address at) { addresses_.go_on_above(at); }
  /// Gives no addresses of a range from now on: a reservation lies there that others made.
  void keep_clear_of(Address at, Bytes size) { addresses_.avoid(at, size); }

  std::optional<Address> reserve(Bytes size) override;
  bool map(Address at, Bytes size, Bytes granule) override;
  void unmap(Address at, Bytes size) override;
  void alias(Address at, Address of, Bytes size, Bytes granule) override;
  void unalias(Address at) override;
  void release(Address at) override;

 private:
  bool grants(Bytes charge) const;
  std::optional<Address> take_addresses(Bytes size, Bytes charge, AddressPurpose use);
  void hold(Bytes charge);
  Bytes awake() const { return usage_.held - std::min(usage_.held, usage_.asleep); }
  void note_awake() { usage_.peak_awake = std::max(usage_.peak_awake, awake()); }
  void hold_region(Address region, Bytes charge);

  SimulatedDeviceOptions options_;
  AddressSpace addresses_;
  AddressTable<Bytes> regions_;            ///< bytes charged
  std::map<Address, Bytes> reservations_;  ///< bytes of addresses
  RangeSet mapped_;
  struct Alias {
    Bytes size = 0;
    std::uint64_t granules = 0;
  };
  std::map<Address, Alias> aliases_;
  DeviceUsage usage_;
  Bytes addresses_taken_ = 0;
  Bytes held_by_others_ = 0;  ///< or wanted
  Bytes missed_by_others_ = 0;
};

}  // namespace memreplay

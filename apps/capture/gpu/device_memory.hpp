#pragma once

#include <map>
#include <optional>

#include "core/address_policy.hpp"
#include "core/range_set.hpp"
#include "device/driver_addresses.hpp"
#include "shared_cards.hpp"

namespace memreplay::gpu {

inline constexpr Bytes kGranule = 2 << 20;  ///< what the driver hands out, in memory and addresses

constexpr Bytes in_granules(Bytes size) { return (size + kGranule - 1) / kGranule * kGranule; }

/// Ranges of an address window, in the order of first_fit or cuda_linux (there after a context). No
/// memory lies in them.
class Window {
 public:
  explicit Window(AddressRange whole, AddressPolicy order = AddressPolicy::first_fit);

  /// What a range of that size would take of the device: granules, but where small ones share one.
  Bytes charge(Bytes size) const;
  /// Unset when there is no hole of that size.
  std::optional<Address> take(Bytes size);
  /// What the range that began there gives back to the device; unset when none did.
  std::optional<Bytes> give_back(Address at);
  void clear();
  /// The range that holds this byte.
  std::optional<AddressRange> holding(Address byte) const;
  bool contains(Address byte) const { return byte >= whole_.from && byte < whole_.to; }

 private:
  std::optional<Address> lowest_hole(Bytes size);

  AddressRange whole_;
  RangeSet holes_;                         ///< first_fit
  std::optional<DriverAddresses> driver_;  ///< cuda_linux, relative to the window
  std::map<Address, Bytes> taken_;
};

/// The card of a device, whose memory all processes share.
struct DeviceCard {
  SharedCards& cards;
  std::size_t number = 0;
  Bytes capacity = 0;
  Bytes context = 0;  ///< taken by each process that uses the device
};

/// What this process has on one device: how much is in use, and where its allocations lie.
struct DeviceMemory {
  DeviceMemory(DeviceCard its_card, AddressRange addresses,
               AddressPolicy order = AddressPolicy::first_fit)
      : card(its_card), window(addresses, order) {}

  /// Makes the context where there is none yet, as the first use of a device does; false when the
  /// card has no memory for it.
  bool use();
  /// Takes memory that no allocation of the program's has, for as long as the process lives; false
  /// when there is not that much.
  bool take(Bytes size);
  /// Takes physical memory; false when there is not that much.
  bool charge(Bytes size);
  void discharge(Bytes size);
  /// Gives back all that this process has there, its context too.
  void reset();
  /// What all processes leave.
  Bytes free_bytes() const;

  /// An allocation with addresses of its own; unset: out of memory.
  std::optional<Address> allocate(Bytes size);
  /// False when nothing was allocated there.
  bool free(Address at);

  DeviceCard card;
  bool has_context = false;
  Bytes used = 0;  ///< beside the context
  Bytes peak = 0;
  Bytes outside = 0;  ///< taken beside both
  Window window;
};

}  // namespace memreplay::gpu

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/address_table.hpp"
#include "device/device_wrapper.hpp"

namespace memreplay {

/// A call to a device, as a listener hears of it.
struct DeviceCall {
  enum class Kind : std::uint8_t {
    obtain,
    give_back,
    adopt,         ///< a region
    adopt_mapped,  ///< a mapped run
    map,
    unmap,
    alias,
    unalias,
    allocate,  ///< by the driver's own allocator
    free,      ///< likewise
  };
  Kind kind = Kind::obtain;
  Address address = 0;
  Bytes bytes = 0;    ///< as asked for, also of what is returned
  Bytes granule = 0;  ///< size of the pieces mapped or unmapped; 0: not known
  Address of = 0;     ///< where the memory of an alias lies
  Bytes charged = 0;  ///< what the driver made of the bytes of `allocate`
};

/// Whoever wants to know what a device was asked for, and granted: a log, a meter, a ledger.
class DeviceListener {
 public:
  virtual ~DeviceListener() = default;
  /// After a call that takes memory was granted; before a call that returns some, so that one that
  /// must not be made can be stopped by an exception. Refused calls are not heard of.
  virtual void heard(const DeviceCall& call) = 0;
};

/// A device whose listeners hear of every call that it grants. O(1) a call on regions, O(log) of
/// the mappings so far on mapped memory.
class HeardDevice final : public DeviceWrapper {
 public:
  explicit HeardDevice(DeviceModel& device) : DeviceWrapper(device) {}
  HeardDevice(DeviceModel& device, DeviceListener& listener) : DeviceWrapper(device) {
    tell(listener);
  }
  /// Adds a listener after those there are; before the first call.
  void tell(DeviceListener& listener) { listeners_.push_back(&listener); }

  /// A copy of the device alone: nobody listens to it.
  std::unique_ptr<DeviceModel> clone() const override { return inner().clone(); }
  std::optional<Address> obtain(Bytes size) override;
  void give_back(Address region) override;
  void adopt(Address region, Bytes size, bool mapped) override;
  bool map(Address at, Bytes size, Bytes granule) override;
  void unmap(Address at, Bytes size) override;
  void alias(Address at, Address of, Bytes size, Bytes granule) override;
  void unalias(Address at) override;
  std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex stream) override;
  void free(Address block, StreamIndex stream) override;

 private:
  struct Mapped {
    Bytes size = 0;
    Bytes granule = 0;
  };

  void say(const DeviceCall& call) const;
  /// A region, or a block of the driver, goes back.
  void say_returned(DeviceCall::Kind kind, Address address);

  std::vector<DeviceListener*> listeners_;
  AddressTable<Bytes> sizes_;         ///< as asked for, of regions and blocks of the driver
  std::map<Address, Mapped> mapped_;  ///< by the first address of each call; aliases too
};

}  // namespace memreplay

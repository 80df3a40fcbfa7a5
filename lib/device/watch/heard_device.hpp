#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "core/address_table.hpp"
#include "core/program.hpp"
#include "device/cost_model.hpp"
#include "device/device_wrapper.hpp"
#include "device/watch/watcher.hpp"

namespace memreplay {

/// A device whose watchers hear of every call that it grants. O(1) a call on regions, O(log) of
/// the mappings so far on mapped memory.
class HeardDevice final : public DeviceWrapper {
 public:
  explicit HeardDevice(DeviceModel& device) : DeviceWrapper(device) {}
  HeardDevice(DeviceModel& device, Watcher& watcher) : DeviceWrapper(device) { tell(watcher); }
  /// Adds a watcher after those there are; before the first call.
  void tell(Watcher& watcher) { watchers_.add(watcher); }

  /// A copy of the device alone: nobody watches it.
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

  void say(const DeviceCall& call) { watchers_.on_device_call(call); }
  /// A region, or a block of the driver, goes back.
  void say_returned(DeviceCall::Kind kind, Address address);

  WatcherGroup watchers_;
  AddressTable<Bytes> sizes_;         ///< as asked for, of regions and blocks of the driver
  std::map<Address, Mapped> mapped_;  ///< by the first address of each call; aliases too
};

/// A call that a device granted. `op` is one of the segment operations.
struct DeviceEvent {
  Op op = Op::segment_alloc;
  Address address = 0;
  Bytes bytes = 0;  ///< as asked for

  friend bool operator==(const DeviceEvent&, const DeviceEvent&) = default;
};

/// Everything that a device granted, in the order of the calls. Adopted regions are not in it, what
/// becomes of them is.
class DeviceLog final : public Watcher {
 public:
  const std::vector<DeviceEvent>& events() const { return events_; }

  void on_device_call(const DeviceCall& call) override;

 private:
  std::vector<DeviceEvent> events_;
};

/// The sum of what the calls to a device would cost, each by its size. Refused calls cost nothing,
/// nor does what was adopted until it is returned.
class CostMeter final : public Watcher {
 public:
  explicit CostMeter(const CostModel& cost) : cost_(cost) {}

  /// So far; always the same object.
  const double& seconds() const { return seconds_; }

  void on_device_call(const DeviceCall& call) override;

 private:
  void add(double ms) { seconds_ += ms / 1000.0; }
  void add_pieces(const CostCurve& curve, const DeviceCall& call);

  CostModel cost_;
  double seconds_ = 0;
};

}  // namespace memreplay

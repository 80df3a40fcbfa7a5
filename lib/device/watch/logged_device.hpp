#pragma once

#include <map>
#include <memory>
#include <vector>

#include "core/event.hpp"
#include "device/device_wrapper.hpp"

namespace memreplay {

/// A call that a device granted. `op` is one of the segment operations.
struct DeviceEvent {
  Op op = Op::segment_alloc;
  Address address = 0;
  Bytes bytes = 0;  ///< as asked for

  friend bool operator==(const DeviceEvent&, const DeviceEvent&) = default;
};

/// Writes down what is asked of a device.
class LoggedDevice final : public DeviceWrapper {
 public:
  using DeviceWrapper::DeviceWrapper;

  /// In the order of the calls. Adopted regions are not in it, what becomes of them is.
  const std::vector<DeviceEvent>& events() const { return events_; }

  std::unique_ptr<DeviceModel> clone() const override;
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
  std::vector<DeviceEvent> events_;
  std::map<Address, Bytes> sizes_;  ///< of regions held, blocks of the driver and aliases
};

}  // namespace memreplay

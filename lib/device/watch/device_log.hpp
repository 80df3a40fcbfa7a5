#pragma once

#include <vector>

#include "core/event.hpp"
#include "device/watch/heard_device.hpp"

namespace memreplay {

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

}  // namespace memreplay

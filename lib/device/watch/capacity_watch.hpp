#pragma once

#include <memory>
#include <optional>

#include "device/device_wrapper.hpp"

namespace memreplay {

/// Notes for which capacities a simulated device would have answered as it did.
class CapacityWatch final : public DeviceWrapper {
 public:
  CapacityWatch(DeviceModel& device, Bytes granularity)
      : DeviceWrapper(device), granularity_(granularity) {}

  /// The least that would have been held had a refused call been granted; unset where none would
  /// be on a larger device. With that much room, or more, the calls end differently.
  std::optional<Bytes> least_refused() const { return least_refused_; }
  /// Whether the size of the device was asked for: then it may decide over anything.
  bool asked_for_size() const { return asked_for_size_; }

  std::unique_ptr<DeviceModel> clone() const override;
  std::optional<Address> obtain(Bytes size) override;
  bool map(Address at, Bytes size, Bytes granule) override;
  Bytes total_bytes() const override;
  Bytes free_bytes() const override;

 private:
  void note_refusal(Bytes charge);

  Bytes granularity_;
  std::optional<Bytes> least_refused_;
  mutable bool asked_for_size_ = false;
};

}  // namespace memreplay

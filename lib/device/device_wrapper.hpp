#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "device/device_model.hpp"

namespace memreplay {

/// Passes every call on to another device; derived classes see what they care for.
class DeviceWrapper : public DeviceModel, public VirtualMemory, public DriverAllocator {
 public:
  explicit DeviceWrapper(DeviceModel& device) : device_(&device) {}

  std::optional<Address> obtain(Bytes size) override { return device_->obtain(size); }
  void give_back(Address region) override { device_->give_back(region); }
  void adopt(Address region, Bytes size, bool mapped) override {
    device_->adopt(region, size, mapped);
  }
  VirtualMemory* virtual_memory() override { return device_->virtual_memory() ? this : nullptr; }
  DriverAllocator* driver_allocator() override {
    return device_->driver_allocator() ? this : nullptr;
  }
  Bytes total_bytes() const override { return device_->total_bytes(); }
  Bytes free_bytes() const override { return device_->free_bytes(); }
  const DeviceUsage& usage() const override { return device_->usage(); }

  std::optional<Address> reserve(Bytes size) override { return memory().reserve(size); }
  bool map(Address at, Bytes size, Bytes granule) override {
    return memory().map(at, size, granule);
  }
  void unmap(Address at, Bytes size) override { memory().unmap(at, size); }
  void alias(Address at, Address of, Bytes size, Bytes granule) override {
    memory().alias(at, of, size, granule);
  }
  void unalias(Address at) override { memory().unalias(at); }
  void release(Address at) override { memory().release(at); }

  bool has(DriverAllocatorOptions::Kind kind) const override {
    return device_->driver_allocator()->has(kind);
  }
  void open(const DriverAllocatorOptions& options) override { driver().open(options); }
  std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex stream) override {
    return driver().allocate(size, alignment, stream);
  }
  void free(Address block, StreamIndex stream) override { driver().free(block, stream); }
  void trim() override { driver().trim(); }

 protected:
  const DeviceModel& inner() const { return *device_; }
  /// A copy of a wrapper wraps a copy of the device, which it owns.
  void own(std::unique_ptr<DeviceModel> device) {
    owned_ = std::move(device);
    device_ = owned_.get();
  }
  DeviceWrapper(const DeviceWrapper& other) : device_(other.device_) {}
  DeviceWrapper& operator=(const DeviceWrapper&) = delete;

 private:
  VirtualMemory& memory() { return *device_->virtual_memory(); }
  DriverAllocator& driver() { return *device_->driver_allocator(); }

  DeviceModel* device_;
  std::unique_ptr<DeviceModel> owned_;
};

/// Notes for which capacities a simulated device would have answered as it did.
class CapacityWatch final : public DeviceWrapper {
 public:
  CapacityWatch(DeviceModel& device, Bytes granularity)
      : DeviceWrapper(device), granularity_(granularity) {}
  /// With all that `other` noted, over a copy of its device.
  CapacityWatch(DeviceModel& device, const CapacityWatch& other)
      : DeviceWrapper(device),
        granularity_(other.granularity_),
        least_refused_(other.least_refused_),
        asked_for_size_(other.asked_for_size_) {}

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

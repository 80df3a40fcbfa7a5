#pragma once

#include <map>
#include <optional>

#include "core/range_set.hpp"
#include "device/device_model.hpp"

namespace memreplay {

/// One region of another device, handed out as if it were a device of its own. A flat address
/// space: it fragments. It has no virtual memory. O(log regions) a call.
class ArenaDevice final : public DeviceModel {
 public:
  ArenaDevice(DeviceModel& device, Bytes size) : device_(&device), size_(size) {}

  std::unique_ptr<DeviceModel> clone() const override {
    return std::make_unique<ArenaDevice>(*this);
  }
  std::unique_ptr<ArenaDevice> copy_over(DeviceModel& device) const {
    auto copy = std::make_unique<ArenaDevice>(*this);
    copy->device_ = &device;
    return copy;
  }
  std::optional<Address> obtain(Bytes size) override;
  void give_back(Address region) override;
  void adopt(Address, Bytes, bool) override {}
  VirtualMemory* virtual_memory() override { return nullptr; }
  Bytes total_bytes() const override { return size_; }
  Bytes free_bytes() const override { return base_ ? holes_.total() : size_; }
  const DeviceUsage& usage() const override { return usage_; }

  /// What is obtained from the device and not handed out.
  const RangeSet& holes() const { return holes_; }

 private:
  bool open();

  DeviceModel* device_;
  Bytes size_;
  std::optional<Address> base_;  ///< obtained with the first region
  RangeSet holes_;
  std::map<Address, Address> regions_;  ///< from -> to
  DeviceUsage usage_;
};

}  // namespace memreplay

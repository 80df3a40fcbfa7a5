#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "device/device_wrapper.hpp"
#include "device/simulated_device.hpp"

namespace memreplay {

/// A simulated device with a driver that places blocks itself, in whole 256 bytes, and writes down
/// what it is told.
class DriverDevice final : public DeviceWrapper {
 public:
  using Kind = DriverAllocatorOptions::Kind;

  explicit DriverDevice(std::vector<Kind> kinds, std::optional<Bytes> capacity = {})
      : DeviceWrapper(simulated_),
        kinds_(std::move(kinds)),
        simulated_({.capacity = capacity, .granularity = 256}) {}

  std::unique_ptr<DeviceModel> clone() const override { return nullptr; }
  DriverAllocator* driver_allocator() override { return this; }
  bool has(Kind kind) const override {
    return std::find(kinds_.begin(), kinds_.end(), kind) != kinds_.end();
  }
  void open(const DriverAllocatorOptions& options) override { opened.push_back(options); }
  std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex stream) override {
    calls.push_back("alloc " + std::to_string(size) + " aligned " + std::to_string(alignment) +
                    " on " + std::to_string(stream));
    const auto address = simulated_.obtain(size);
    if (!address) return std::nullopt;
    return DriverBlock{*address, round_up(size, 256)};
  }
  void free(Address block, StreamIndex stream) override {
    calls.push_back("free on " + std::to_string(stream));
    simulated_.give_back(block);
  }
  void trim() override { calls.push_back("trim"); }

  std::vector<DriverAllocatorOptions> opened;
  std::vector<std::string> calls;

 private:
  std::vector<Kind> kinds_;
  SimulatedDevice simulated_;
};

}  // namespace memreplay

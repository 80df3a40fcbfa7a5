#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/run/answer.hpp"
#include "analysis/run/setup.hpp"
#include "device/real/real_memory.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// A device that is replayed on.
struct OpenDevice {
  std::string name = "sim";            ///< as it was asked for
  std::unique_ptr<RealMemory> memory;  ///< null: a simulated one
  SimulatedDeviceOptions options;      ///< of a real one capacity and reserve hold
  DeviceSummary summary;
  bool timed = false;  ///< every operation: where any device is real

  /// What others leave of it for a replay; nothing: it is endless.
  std::optional<Bytes> room() const;
};

/// The simulated device of these options.
OpenDevice simulated(const SimulatedDeviceOptions& options);

/// What is said of a simulated device.
DeviceSummary summarise(const SimulatedDeviceOptions& device);

/// How much of each block is touched there.
Touch touch_of(const OpenDevice& device, const Setup& setup);

/// Opens the devices that the setup names, one simulated device where it names none. Beside a
/// real device a simulated one has its granularity. Libraries that `strategies` name are looked
/// for too, since one may ask for another start of the program. Throws UsageError, and DeviceError
/// where there is no such device.
std::vector<OpenDevice> open_devices(const Setup& setup,
                                     std::span<const StrategySpec> strategies = {});

}  // namespace memreplay

#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "device/real/real_memory.hpp"
#include "device/simulated_device.hpp"
#include "options/options.hpp"
#include "report/results.hpp"

namespace memreplay {

/// What `--device` names: "sim", "host", "cuda" or "cuda:N".
DeviceChoice device_argument(const std::string& text);

/// A device that is replayed on.
struct OpenDevice {
  std::string name;                    ///< as it was asked for
  std::unique_ptr<RealMemory> memory;  ///< null: a simulated one
  SimulatedDeviceOptions options;      ///< of a real one capacity and reserve hold
  DeviceSummary summary;
  bool timed = false;  ///< every operation: where any device is real

  /// What others leave of it for a replay; nothing: it is endless.
  std::optional<Bytes> room() const;
};

/// How much of each block is touched there.
Touch touch_of(const OpenDevice& device, const RunOptions& options);

/// Opens the devices that the options name, one simulated device where they name none. Beside a
/// real device a simulated one has its granularity. Throws UsageError, and DeviceError where there
/// is no such device.
std::vector<OpenDevice> open_devices(const RunOptions& options);

}  // namespace memreplay

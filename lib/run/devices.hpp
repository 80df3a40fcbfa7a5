#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "device/real/real_memory.hpp"
#include "run/answer.hpp"
#include "run/setup.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// A device that is replayed on.
struct OpenDevice {
  std::string name = "sim";            ///< as it was asked for
  std::shared_ptr<RealMemory> memory;  ///< null: a simulated one
  SimulatedDeviceOptions options;      ///< for a real one only capacity and reserve count
  DeviceSummary summary;
  bool timed = false;         ///< every operation: where any device is real
  bool unknown_size = false;  ///< see SizedDevice

  /// What others leave of it for a replay; unset: it is endless.
  std::optional<Bytes> room() const;
};

/// A simulated device for one recording, and whose word its capacity is.
struct SizedDevice {
  SimulatedDeviceOptions options;
  CapacityFrom from = CapacityFrom::nobody;
  /// Nobody says how large it is, and nobody asked for one without limit: it never gets full, but
  /// what the recorded program was refused is refused again.
  bool unknown_size = false;
  /// The card that leaves just as much as the recorded device.
  std::optional<SetAside> set_aside;
};

/// The device of this setup on which a recording is replayed. Where nobody says how large it is,
/// that of the recorded failure, or the one that recorded retries show; where there is neither, it
/// is endless. O(events).
SizedDevice sized_for(const Subject& subject, const Setup& setup);

/// The simulated device of these options.
OpenDevice simulated(const SizedDevice& device);

/// The devices on which a recording is replayed, where they were opened for the question: simulated
/// ones with a capacity as sized_for says, beside real ones all as they are.
std::vector<OpenDevice> devices_for(const Subject& subject, std::span<const OpenDevice> opened,
                                    const Setup& setup);

/// What is said of a simulated device.
DeviceSummary summarise(const SizedDevice& device);

/// How much of each block is touched there.
Touch touch_of(const OpenDevice& device, const Setup& setup);

/// Opens the devices that the setup names, one simulated device where it names none. Beside a
/// real device a simulated one has its granularity. Libraries that `strategies` name are looked
/// for too, since one may ask for another start of the program. Throws UsageError, and DeviceError
/// where there is no such device.
std::vector<OpenDevice> open_devices(const Setup& setup,
                                     std::span<const StrategySpec> strategies = {});

}  // namespace memreplay

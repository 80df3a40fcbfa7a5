#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "abi.hpp"
#include "core/card.hpp"
#include "device_memory.hpp"
#include "settings.hpp"

namespace memreplay::gpu {

using memreplay::CardLibrary;

/// Physical memory without an address of its own: cuMemCreate.
struct PhysicalMemory {
  Bytes size = 0;
  int device = 0;
  int references = 0;
};

/// Physical memory came to an address, or went from there.
struct MappingChange {
  std::int64_t time_ns;  ///< since 1970
  Address address;
  Bytes size;
  std::uint64_t is_mapped;
};

/// Everything that the stand-ins of one process share. Whoever touches a member holds `mutex`.
struct Machine {
  explicit Machine(SharedCards& cards);

  /// `number` is one of a device.
  DeviceMemory& device(int number) { return devices[static_cast<std::size_t>(number)]; }
  DeviceMemory& current();
  /// The device whose memory this is; unset for an address of the host. Needs no mutex for
  /// addresses outside of the windows.
  std::optional<int> device_of(const void* pointer);
  /// Where the variables of kernels lie: on the first device, with nothing allocated there.
  void* symbols() const;
  /// The current device is about to be used by this library. Needs no mutex; fails where the card
  /// is full.
  Status load(CardLibrary library);
  /// Gives back what this process has on the current device.
  void reset_device();
  /// One user of the physical memory less; the last one gives it back.
  void release(std::uint64_t physical);

  std::mutex mutex;
  std::vector<DeviceMemory> devices;
  Window reserved;  ///< addresses of cuMemAddressReserve, of all devices
  std::unordered_map<std::uint64_t, PhysicalMemory> physical;
  struct Mapping {
    Bytes size;
    std::uint64_t physical;
  };
  std::map<Address, Mapping> mapped;
  std::vector<MappingChange> mapping_changes;  ///< all since the process began
  std::uint64_t next_physical = 0x1000;

 private:
  Bytes window_ = 0;                       ///< addresses of a device
  std::atomic<std::uint64_t> loaded_ = 0;  ///< a bit for each device and library
};

/// A process that was forked has one of its own, on which it has nothing.
Machine& machine();
/// What all processes of the recording have on the cards of their machine.
SharedCards& cards();

/// The device that this thread has chosen.
int current_device();
Status choose_device(int device);

/// Remembers an error for cudaGetLastError; returns it.
Status failed(Status status);

/// True while this thread's request is to be refused: the device has no memory for it.
bool refusing();
void set_refusing(bool refuse);

}  // namespace memreplay::gpu

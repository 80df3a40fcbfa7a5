#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/request.hpp"
#include "core/units.hpp"

namespace memreplay {

/// The calls that a device has served so far, and what it holds. Bytes are physical, in whole
/// granules.
struct DeviceUsage {
  Bytes held = 0;
  Bytes peak_held = 0;
  Bytes asleep = 0;      ///< `held`, but returned for now
  Bytes peak_awake = 0;  ///< most that was held and not asleep
  std::uint64_t allocs = 0;
  std::uint64_t frees = 0;
  std::uint64_t maps = 0;
  std::uint64_t unmaps = 0;
  std::uint64_t refusals = 0;
  std::uint64_t regions = 0;  ///< held now, mapped runs not counted
  std::uint64_t peak_regions = 0;
};

/// Ability of a device: address ranges apart from the physical memory behind them.
class VirtualMemory {
 public:
  virtual ~VirtualMemory() = default;
  /// A range of addresses without memory behind it; unset when there is no room for it.
  virtual std::optional<Address> reserve(Bytes size) = 0;
  /// Puts memory behind [at, at + size) in pieces of `granule`; all or nothing. False: device full.
  virtual bool map(Address at, Bytes size, Bytes granule) = 0;
  virtual void unmap(Address at, Bytes size) = 0;
  /// Puts the memory that is behind [of, of + size), mapped or of a region, behind [at, at + size)
  /// too. The memory stays charged once; every granule counts as a map.
  virtual void alias(Address at, Address of, Bytes size, Bytes granule) = 0;
  /// Undoes an `alias` by its `at`; to be done before its memory is given back.
  virtual void unalias(Address at) = 0;
  /// Gives back a whole range that `reserve` returned; nothing is mapped in it.
  virtual void release(Address at) = 0;
};

struct DriverAllocatorOptions {
  enum class Kind {
    direct,          ///< cudaMalloc and cudaFree
    stream_ordered,  ///< cudaMallocAsync and cudaFreeAsync, out of a memory pool of its own
    malloc           ///< malloc and free of the process, or of a library
  };
  Kind kind = Kind::direct;
  // The attributes of a memory pool (cudaMemPoolAttr).
  Bytes release_threshold = 0;
  bool reuse_follow_event_dependencies = true;
  bool reuse_allow_opportunistic = true;
  bool reuse_allow_internal_dependencies = true;
  std::string library;  ///< shared object that malloc comes from; empty: the process's own malloc
};

/// A block that a driver placed.
struct DriverBlock {
  Address address = 0;
  Bytes size = 0;  ///< what the driver charges for it, at least what was asked for
};

/// Ability of a device: the driver, or the process, places blocks by itself. What it holds from the
/// device for them, used or not, counts as held.
class DriverAllocator {
 public:
  virtual ~DriverAllocator() = default;
  virtual bool has(DriverAllocatorOptions::Kind kind) const = 0;
  /// Chooses the allocator: once, before all else. Throws UsageError where the device has it not.
  virtual void open(const DriverAllocatorOptions& options) = 0;
  /// A block that the driver placed; unset when the device is full.
  virtual std::optional<DriverBlock> allocate(Bytes size, Bytes alignment, StreamIndex stream) = 0;
  virtual void free(Address block, StreamIndex stream) = 0;
  /// Gives back to the device what the driver keeps without need.
  virtual void trim() = 0;
};

/// A device as its driver offers it to an allocator. Being full is an answer, not an error.
class DeviceModel {
 public:
  virtual ~DeviceModel() = default;
  /// A copy of the device and its state, independent from then on.
  virtual std::unique_ptr<DeviceModel> clone() const = 0;
  /// A region of at least `size` bytes; unset when the device is full.
  virtual std::optional<Address> obtain(Bytes size) = 0;
  /// Returns a region by the address that `obtain` gave.
  virtual void give_back(Address region) = 0;
  /// Takes over a region, or a mapped run, that existed before the replay.
  virtual void adopt(Address region, Bytes size, bool mapped) = 0;
  /// The ability to map memory; null where the device cannot.
  virtual VirtualMemory* virtual_memory() = 0;
  /// The ability to place blocks by itself; null where the device cannot, as a simulated one.
  virtual DriverAllocator* driver_allocator() { return nullptr; }
  virtual Bytes total_bytes() const = 0;  ///< what the device reports as its size
  virtual Bytes free_bytes() const = 0;   ///< what the device reports as free
  /// The usage so far: always one object, which follows what is asked of the device.
  virtual const DeviceUsage& usage() const = 0;
};

}  // namespace memreplay

#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "physical_memory.hpp"
#include "work.hpp"

namespace stand_in {

constexpr std::uint64_t kGranule = 2 << 20;

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) {
  return (n + unit - 1) / unit * unit;
}

struct Settings {
  std::uint64_t capacity = 16ull << 30;
  std::uint64_t latency_us = 0;
  int devices = 1;
  std::map<int, int> attributes = {
      {CU_DEVICE_ATTRIBUTE_KERNEL_EXEC_TIMEOUT, 0},
      {CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, 1},
      {CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED, 1},
  };
};

struct Fault {
  std::string call;  ///< empty: any
  std::uint64_t calls_until = 0;
  CUresult error = CUDA_SUCCESS;
};

/// Memory of cuMemAlloc or of a pool.
struct Allocation {
  std::uint64_t charged = 0;
  CUmemoryPool pool = nullptr;
  bool being_freed = false;  ///< its cuMemFreeAsync waits in a stream
};

struct Piece {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t mappings = 0;
  bool released = false;  ///< the memory goes with the last mapping
};

struct Mapping {
  std::uint64_t size = 0;
  CUmemGenericAllocationHandle piece = 0;
};

struct Pool {
  std::uint64_t release_threshold = 0;
  std::uint64_t used = 0;
  std::uint64_t reserved = 0;
  std::uint64_t reserved_high = 0;
  bool destroyed = false;  ///< it goes with its last block
};

struct Event {
  bool has_time = false;
  std::shared_ptr<Moment> moment;  ///< when it was last recorded; null before the first
};

/// Everything that the double knows. One for the process.
struct World {
  Settings settings;
  std::map<std::string, std::uint64_t> calls;
  std::vector<Fault> faults;
  std::string failed_call;
  std::vector<std::string> misuse;

  bool initialised = false;
  int contexts = 0;
  std::uint64_t charged = 0;
  std::uint64_t next_handle = 1;

  std::map<CUdeviceptr, Allocation> allocations;
  PhysicalMemory physical;
  std::map<CUmemGenericAllocationHandle, Piece> pieces;
  std::map<CUdeviceptr, std::uint64_t> reservations;  ///< sizes
  std::map<CUdeviceptr, Mapping> mappings;
  std::map<CUmemoryPool, Pool> pools;
  std::map<CUdeviceptr, CUdeviceptr> accessible;  ///< ends of ranges

  Work work;
  std::map<CUevent, Event> events;
  std::map<CUmodule, std::string> modules;  ///< their texts

  template <class Handle>
  Handle new_handle() {
    return reinterpret_cast<Handle>(16 * next_handle++);
  }
  CUresult wrong(const std::string& what, CUresult result = CUDA_ERROR_INVALID_VALUE);
  bool charge(std::uint64_t bytes);
  bool can_access(CUdeviceptr from, CUdeviceptr to) const;
  void synchronise();
  std::vector<std::string> leaks() const;
};

World& world();
std::recursive_mutex& world_mutex();

/// Counts the call and lets it pass, or says how it fails.
CUresult admit(const char* call, bool needs_context);
void set_current(bool current);
std::string hex(std::uint64_t address);

template <class Body>
CUresult called(const char* call, Body body) {
  const std::lock_guard lock(world_mutex());
  const CUresult refusal = admit(call, false);
  return refusal == CUDA_SUCCESS ? body(world()) : refusal;
}

template <class Body>
CUresult called_in_context(const char* call, Body body) {
  const std::lock_guard lock(world_mutex());
  const CUresult refusal = admit(call, true);
  return refusal == CUDA_SUCCESS ? body(world()) : refusal;
}

// Host memory of a cuMemAlloc or of a block of a pool; 0 where this machine has none.
CUdeviceptr take_host_memory(std::uint64_t size);
void give_back_host_memory(CUdeviceptr at, std::uint64_t size);
/// Addresses that begin at a granule; 0 where there is no room.
CUdeviceptr take_addresses(std::uint64_t size, bool with_memory);
void give_back_addresses(CUdeviceptr at, std::uint64_t size);

/// What the pools keep beyond their use and their threshold goes back.
void trim_pools();

}  // namespace stand_in

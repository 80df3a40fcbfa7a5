#include "properties.hpp"

#include <algorithm>
#include <cstring>

#include "machine.hpp"
#include "runtime.hpp"

namespace memreplay::gpu {
namespace {

/// What both layouts have, under the same names.
template <typename Properties>
Properties filled(int device) {
  const Settings& given = settings();
  const Capability can = capability();
  Properties all{};
  std::strncpy(all.name, given.name.c_str(), sizeof all.name - 1);
  write_uuid(all.uuid, device);
  all.total_global_memory = given.total;
  all.shared_memory_per_block = kSharedPerBlock;
  all.registers_per_block = all.registers_per_multiprocessor = kRegisters;
  all.warp_size = kWarp;
  all.memory_pitch = kLargestInt;
  all.max_threads_per_block = kThreadsPerBlock;
  std::ranges::copy(std::array{1024, 1024, 64}, all.max_threads_dim);
  std::ranges::copy(std::array{kLargestInt, 65535, 65535}, all.max_grid_size);
  all.total_const_memory = 65536;
  all.major = given.major;
  all.minor = given.minor;
  all.texture_alignment = all.surface_alignment = 512;
  all.texture_pitch_alignment = 32;
  all.multiprocessors = given.multiprocessors;
  all.can_map_host_memory = all.concurrent_kernels = all.unified_addressing = 1;
  all.pci_bus = pci_bus(device);
  all.async_engines = 3;
  all.memory_bus_width = kBusWidth;
  all.l2_cache_size = kL2Cache;
  all.max_threads_per_multiprocessor = can.threads_per_multiprocessor;
  all.stream_priorities = all.global_l1_cache = all.local_l1_cache = 1;
  all.shared_memory_per_multiprocessor = static_cast<std::size_t>(can.shared_per_multiprocessor);
  all.managed_memory = all.concurrent_managed_access = all.compute_preemption = 1;
  all.cooperative_launch = 1;
  all.shared_memory_per_block_optin = static_cast<std::size_t>(can.shared_per_block_optin);
  all.max_blocks_per_multiprocessor = can.blocks_per_multiprocessor;
  all.reserved_shared_memory_per_block = kReservedSharedPerBlock;
  return all;
}

Status write_old(void* properties, int device) {
  if (!is_device(device)) return failed(kInvalidDevice);
  const auto all = filled<Properties11>(device);
  std::memcpy(properties, &all, sizeof all);
  return kSuccess;
}

/// CUDA 11 has the layout of 12 under the name that 13 uses for its own.
bool runtime_is_11() {
  int version = 0;
  cudaRuntimeGetVersion(&version);
  return version < 12000;
}

}  // namespace

int pci_bus(int device) { return card_of(device) + 1; }

void write_uuid(char* uuid, int device) {
  std::memset(uuid, 0, 16);
  uuid[3] = static_cast<char>(card_of(device) + 1);
}

Capability capability() {
  switch (settings().major * 10 + settings().minor) {
    case 60:
      return {65536, 49152, 2048, 32};
    case 61:
      return {98304, 49152, 2048, 32};
    case 70:
      return {98304, 98304, 2048, 32};
    case 75:
      return {65536, 65536, 1024, 16};
    case 80:
      return {167936, 166912, 2048, 32};
    case 86:
      return {102400, 101376, 1536, 16};
    case 89:
      return {102400, 101376, 1536, 24};
    case 120:
      return {102400, 101376, 1536, 24};
    default:
      return {233472, 232448, 2048, 32};
  }
}

}  // namespace memreplay::gpu

using namespace memreplay::gpu;

#pragma GCC visibility push(default)
extern "C" {

Status cudaGetDeviceProperties(void* properties, int device) {
  if (runtime_is_11()) return write_old(properties, device);
  if (!is_device(device)) return failed(kInvalidDevice);
  Properties13 all = filled<Properties13>(device);
  all.memory_pools_supported = all.host_register_supported = 1;
  std::memcpy(properties, &all, sizeof all);
  return kSuccess;
}

Status cudaGetDeviceProperties_v2(void* properties, int device) {
  return write_old(properties, device);
}

}  // extern "C"
#pragma GCC visibility pop

#pragma once

#include <cstddef>

namespace memreplay::gpu {

/// cudaDeviceProp of CUDA 13, without the reserved words at its end.
struct Properties13 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  std::size_t total_global_memory, shared_memory_per_block;
  int registers_per_block, warp_size;
  std::size_t memory_pitch;
  int max_threads_per_block, max_threads_dim[3], max_grid_size[3];
  std::size_t total_const_memory;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int multiprocessors, integrated, can_map_host_memory;
  int textures[39];  ///< what textures and surfaces can be: not stated
  std::size_t surface_alignment;
  int concurrent_kernels, ecc_enabled, pci_bus, pci_device, pci_domain, tcc_driver;
  int async_engines, unified_addressing, memory_bus_width, l2_cache_size;
  int persisting_l2_cache_size, max_threads_per_multiprocessor, stream_priorities;
  int global_l1_cache, local_l1_cache;
  std::size_t shared_memory_per_multiprocessor;
  int registers_per_multiprocessor, managed_memory, is_multi_gpu_board, multi_gpu_board_group;
  int host_native_atomics, pageable_memory_access, concurrent_managed_access;
  int compute_preemption, can_use_host_pointer, cooperative_launch;
  std::size_t shared_memory_per_block_optin;
  int pageable_memory_by_host_tables, direct_managed_memory_from_host;
  int max_blocks_per_multiprocessor, access_policy_max_window_size;
  std::size_t reserved_shared_memory_per_block;
  int host_register_supported, sparse_arrays, read_only_host_register, timeline_semaphores;
  int memory_pools_supported;
};

/// cudaDeviceProp of CUDA 11.8 and 12, up to where 11.8 ends.
struct Properties11 {
  char name[256];
  char uuid[16];
  char luid[8];
  unsigned luid_device_node_mask;
  std::size_t total_global_memory, shared_memory_per_block;
  int registers_per_block, warp_size;
  std::size_t memory_pitch;
  int max_threads_per_block, max_threads_dim[3], max_grid_size[3], clock_rate;
  std::size_t total_const_memory;
  int major, minor;
  std::size_t texture_alignment, texture_pitch_alignment;
  int device_overlap, multiprocessors, kernel_timeout, integrated, can_map_host_memory;
  int compute_mode;
  int textures[40];  ///< what textures and surfaces can be: not stated
  std::size_t surface_alignment;
  int concurrent_kernels, ecc_enabled, pci_bus, pci_device, pci_domain, tcc_driver;
  int async_engines, unified_addressing, memory_clock_rate, memory_bus_width, l2_cache_size;
  int persisting_l2_cache_size, max_threads_per_multiprocessor, stream_priorities;
  int global_l1_cache, local_l1_cache;
  std::size_t shared_memory_per_multiprocessor;
  int registers_per_multiprocessor, managed_memory, is_multi_gpu_board, multi_gpu_board_group;
  int host_native_atomics, single_to_double_ratio, pageable_memory_access;
  int concurrent_managed_access, compute_preemption, can_use_host_pointer, cooperative_launch;
  int cooperative_multi_device_launch;
  std::size_t shared_memory_per_block_optin;
  int pageable_memory_by_host_tables, direct_managed_memory_from_host;
  int max_blocks_per_multiprocessor, access_policy_max_window_size;
  std::size_t reserved_shared_memory_per_block;
};

/// What of a card follows from its compute capability, by NVIDIA's table of them.
struct Capability {
  int shared_per_multiprocessor;
  int shared_per_block_optin;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
};

Capability capability();

int pci_bus(int device);
/// 16 bytes, those of uuid_of_card.
void write_uuid(char* uuid, int device);

inline constexpr int kSharedPerBlock = 49152;
inline constexpr int kReservedSharedPerBlock = 1024;
inline constexpr int kThreadsPerBlock = 1024;
inline constexpr int kWarp = 32;
inline constexpr int kRegisters = 65536;
inline constexpr int kL2Cache = 50 << 20;
inline constexpr int kBusWidth = 5120;
inline constexpr int kLargestInt = 2147483647;

}  // namespace memreplay::gpu

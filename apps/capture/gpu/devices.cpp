#include <cstdio>
#include <cstring>

#include "machine.hpp"
#include "properties.hpp"
#include "runtime.hpp"

namespace memreplay::gpu {
namespace {

/// CUDA 13.2 until the program's torch has said for which it was built.
int runtime_version = 13020;
/// The newest known, which serve any torch that needs older ones of their major version.
int cudnn_version_told = 92600;
int nccl_version_told = 23007;

/// cudaDevAttr and CU_DEVICE_ATTRIBUTE number the same things alike. What is not here is 0: no.
int attribute_of(int attribute, int device) {
  const Capability can = capability();
  switch (attribute) {
    case 1:
    case 2:
    case 3:
      return 1024;  // threads of a block
    case 4:
      return 64;
    case 5:
      return kLargestInt;  // the grid
    case 6:
    case 7:
      return 65535;
    case 8:
      return kSharedPerBlock;
    case 9:
      return 65536;  // constant memory
    case 10:
      return 32;  // a warp
    case 11:
      return kLargestInt;
    case 12:
    case 82:
      return kRegisters;
    case 13:
      return 1980000;  // clock, kHz
    case 16:
      return settings().multiprocessors;
    case 33:
      return pci_bus(device);
    case 36:
      return 2619000;  // memory clock, kHz
    case 37:
      return kBusWidth;
    case 38:
      return kL2Cache;
    case 39:
      return can.threads_per_multiprocessor;
    case 40:
      return 3;  // engines for copies
    case 75:
      return settings().major;
    case 76:
      return settings().minor;
    case 81:
      return can.shared_per_multiprocessor;
    case 97:
      return can.shared_per_block_optin;
    case 106:
      return can.blocks_per_multiprocessor;
    case 111:
      return 1024;  // shared memory that the system keeps of a block
    case 15:
    case 31:
    case 41:
    case 78:
    case 79:
    case 80:
    case 83:
    case 89:
    case 90:
    case 95:
    case 99:
    case 102:
    case 103:
    case 115:
      return 1;  // overlap, addressing, priorities, caches, cooperation, virtual memory, pools
    default:
      return 0;
  }
}

}  // namespace

int cudnn_version() { return cudnn_version_told; }
int nccl_version() { return nccl_version_told; }

}  // namespace memreplay::gpu

using namespace memreplay::gpu;

#pragma GCC visibility push(default)
extern "C" {

/// The version of CUDA that the program's torch was built for, 1000 * major + 10 * minor.
void memreplay_gpu_runtime(int version) { runtime_version = version; }

/// The cuDNN and the NCCL that it was built for, 10000 * major + 100 * minor + patch; 0: unknown.
void memreplay_gpu_libraries(int cudnn, int nccl) {
  if (cudnn != 0) cudnn_version_told = cudnn;
  if (nccl != 0) nccl_version_told = nccl;
}

Status cudaRuntimeGetVersion(int* version) {
  *version = runtime_version;
  return kSuccess;
}

/// A driver serves every runtime of its major version.
Status cudaDriverGetVersion(int* version) {
  *version = runtime_version / 1000 * 1000 + 80;
  return kSuccess;
}

Status cudaGetDeviceCount(int* count) {
  *count = static_cast<int>(visible_cards().size());
  return *count == 0 ? failed(kNoDevice) : kSuccess;
}

Status cudaGetDevice(int* device) {
  *device = current_device();
  return kSuccess;
}

/// From CUDA 12 on it makes the context too.
Status cudaSetDevice(int device) {
  const Status status = choose_device(device);
  if (status != kSuccess || runtime_version < 12000) return status;
  const std::lock_guard lock(machine().mutex);
  return machine().current().use() ? kSuccess : failed(kOutOfMemory);
}

Status cudaDeviceReset() {
  if (is_device(current_device())) machine().reset_device();
  return kSuccess;
}

Status cudaDeviceGetAttribute(int* value, int attribute, int device) {
  if (!is_device(device)) return failed(kInvalidDevice);
  *value = attribute_of(attribute, device);
  return kSuccess;
}

Status cudaDeviceCanAccessPeer(int* can, int, int) {
  *can = 0;
  return kSuccess;
}

Status cudaDeviceGetPCIBusId(char* text, int room, int device) {
  if (!is_device(device)) return failed(kInvalidDevice);
  std::snprintf(text, static_cast<std::size_t>(room), "0000:%02x:00.0",
                static_cast<unsigned>(pci_bus(device)));
  return kSuccess;
}

Status cudaDeviceGetGraphMemAttribute(int, int, void* value) {
  std::memset(value, 0, sizeof(std::uint64_t));
  return kSuccess;
}

}  // extern "C"
#pragma GCC visibility pop

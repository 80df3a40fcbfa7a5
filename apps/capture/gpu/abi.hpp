#pragma once

#include <cstddef>
#include <cstdint>

// The part of NVIDIA's binary interfaces that programs see, written down anew for CUDA 11.8 to 13:
// numbers and layouts. Handles are pointers, enumerations are int.
namespace memreplay::gpu {

using Status = int;  ///< cudaError_t; CUresult has the same numbers for what is used here

inline constexpr Status kSuccess = 0;
inline constexpr Status kInvalidValue = 1;
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kNoDevice = 100;
inline constexpr Status kInvalidDevice = 101;
inline constexpr Status kIllegalState = 401;
inline constexpr Status kNotReady = 600;
inline constexpr Status kNotSupported = 801;
inline constexpr Status kCaptureUnsupported = 900;

using Handle = void*;
using Stream = void*;
using DevicePointer = unsigned long long;

struct Dim3 {
  unsigned x, y, z;
};

enum class MemoryKind : int { unregistered = 0, host = 1, device = 2, managed = 3 };

struct PointerAttributes {  // cudaPointerAttributes, without what CUDA 13 reserves after it
  MemoryKind type;
  int device;
  void* device_pointer;
  void* host_pointer;
};

struct FunctionAttributes {  // the beginning of cudaFuncAttributes
  std::size_t shared_bytes, const_bytes, local_bytes;
  int max_threads_per_block, registers, ptx_version, binary_version, cache_mode;
  int max_dynamic_shared_bytes, preferred_shared_carveout;
};

struct AllocationLocation {
  int type;
  int device;
};

struct AllocationProperties {  // the beginning of CUmemAllocationProp
  int type;
  int handle_types;
  AllocationLocation location;
};

}  // namespace memreplay::gpu

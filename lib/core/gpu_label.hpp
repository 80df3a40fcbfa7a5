#pragma once

#include <string>

namespace memreplay {

// Devices of a recording that are no GPU.
inline constexpr int kHostMemory = -1;
inline constexpr int kPinnedMemory = -2;  ///< page-locked host memory, apart from other host memory
inline constexpr int kManagedMemory = -3;  ///< moves between the host and GPUs
inline constexpr int kLowestDevice = kManagedMemory;

/// "gpu 3", "host", "pinned memory", "managed memory"
inline std::string gpu_label(int gpu) {
  switch (gpu) {
    case kHostMemory:
      return "host";
    case kPinnedMemory:
      return "pinned memory";
    case kManagedMemory:
      return "managed memory";
    default:
      return "gpu " + std::to_string(gpu);
  }
}

}  // namespace memreplay

#pragma once

#include <memory>

#include "device/cuda/cuda_execution.hpp"
#include "device/cuda/driver_api.hpp"
#include "device/real/real_memory.hpp"

namespace memreplay {

bool has_driver_blocks(const DriverApi& driver, CUdevice device, DriverAllocatorOptions::Kind kind);

/// The driver's allocator of that kind. Blocks still live when it ends are freed by it. Throws
/// UsageError where the device has none of that kind.
std::unique_ptr<DriverBlocks> open_driver_blocks(const DriverApi& driver, CUdevice device,
                                                 CudaExecution& execution,
                                                 const DriverAllocatorOptions& options);

}  // namespace memreplay

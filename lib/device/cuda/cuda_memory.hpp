#pragma once

#include <memory>
#include <string>

#include "device/real/real_memory.hpp"

namespace memreplay {

/// True where this build can drive a GPU: the CUDA toolkit was found when it was built.
bool has_cuda();

/// The GPU of that number, to be used in the thread that opened it and one GPU a thread. `driver`
/// is the shared object with the driver's calls. Throws DeviceError where there is no such driver
/// or GPU, and in a build without CUDA.
std::unique_ptr<RealMemory> open_cuda_memory(int ordinal,
                                             const std::string& driver = "libcuda.so.1");

}  // namespace memreplay

#pragma once

#include "abi.hpp"

namespace memreplay::gpu {

/// What the program's torch was built for: 10000 * major + 100 * minor + patch.
int cudnn_version();
int nccl_version();

}  // namespace memreplay::gpu

// The calls of the runtime that other stand-ins use themselves.
#pragma GCC visibility push(default)
extern "C" {
memreplay::gpu::Status cudaRuntimeGetVersion(int* version);
memreplay::gpu::Status cudaDriverGetVersion(int* version);
memreplay::gpu::Status cudaGetDeviceCount(int* count);
memreplay::gpu::Status cudaDeviceGetAttribute(int* value, int attribute, int device);
}
#pragma GCC visibility pop

#pragma once

#include <cstddef>

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

namespace memreplay::gpu {

/// A piece of work was handed to a device: kernels, copies, sets. Events count them.
void work_was_launched();
/// The program waited for all of it.
void everything_is_done();

/// True for pinned memory: cudaHostAlloc, cudaHostRegister.
bool is_pinned(const void* pointer);
/// Zeros there. Whole pages of pinned memory are given back to the system instead.
void zero_host(void* to, std::size_t size);

}  // namespace memreplay::gpu

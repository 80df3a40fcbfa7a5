#pragma once

#include <cstddef>

namespace memreplay::gpu {

/// True for pinned memory: cudaHostAlloc, cudaHostRegister.
bool is_pinned(const void* pointer);
/// Zeros there. Whole pages of pinned memory are given back to the system instead.
void zero_host(void* to, std::size_t size);

}  // namespace memreplay::gpu

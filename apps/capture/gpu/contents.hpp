#pragma once

#include <cstddef>

namespace memreplay::gpu {

/// Small contents that are known although nothing is computed: what the program itself copied to a
/// device, until the next kernel, which might have changed it.

/// A copy between any two places; what a device does not know reads as the Fill of the settings,
/// and the program is told afterwards that it has read it.
void copy(void* to, const void* from, std::size_t size);
void set(void* to, int value, std::size_t size);
/// From here on nothing is known any more.
void a_kernel_ran();

}  // namespace memreplay::gpu

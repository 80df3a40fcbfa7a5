#include <cstdint>

#include "device/real/touch_parts.hpp"

using memreplay::TouchedRange;
using memreplay::TouchPart;

namespace {

__device__ std::uint64_t thread_number() {
  return static_cast<std::uint64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

__device__ std::uint64_t thread_count() {
  return static_cast<std::uint64_t>(gridDim.x) * blockDim.x;
}

}  // namespace

extern "C" __global__ void memreplay_fill(TouchedRange range, std::uint64_t tag) {
  const std::uint64_t parts = touch_part_count(range);
  for (std::uint64_t i = thread_number(); i < parts; i += thread_count()) {
    fill_part(touch_part(range, i), tag);
  }
}

/// `lowest` gets the lowest address that differs, where that is below what stands there.
extern "C" __global__ void memreplay_check(TouchedRange range, std::uint64_t tag,
                                           unsigned long long* lowest) {
  const std::uint64_t parts = touch_part_count(range);
  for (std::uint64_t i = thread_number(); i < parts; i += thread_count()) {
    const TouchPart part = touch_part(range, i);
    const std::uint64_t found = first_difference(part, tag);
    if (found < part.to) atomicMin(lowest, static_cast<unsigned long long>(found));
  }
}

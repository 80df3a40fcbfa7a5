#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "core/units.hpp"

/// Sizes of PyTorch's CUDA caching allocator (c10/cuda/CUDACachingAllocator.cpp), under its names.
namespace memreplay::torch {

inline constexpr Bytes kMinBlockSize = 512;
inline constexpr Bytes kSmallSize = kMiB;           ///< largest rounded size of the small pool
inline constexpr Bytes kSmallBuffer = 2 * kMiB;     ///< segment size of the small pool
inline constexpr Bytes kLargeBuffer = 20 * kMiB;    ///< default segment size of mid-sized requests
inline constexpr Bytes kMinLargeAlloc = 10 * kMiB;  ///< from here on a segment is for one request
inline constexpr Bytes kRoundLarge = 2 * kMiB;
inline constexpr Bytes kUnlimited = UINT64_MAX;  ///< max_split_size when it is off

/// Entry i counts for requests from 2^(20+i) bytes on; the first also below, the last also above.
using RoundupTable = std::array<std::uint32_t, 16>;

/// `roundup_power2_divisions`: the next of `divisions` equal steps between two powers of two.
constexpr Bytes roundup_power2_next_division(Bytes size, std::uint32_t divisions) {
  if (std::has_single_bit(size)) return size;
  const Bytes floor = std::bit_floor(size);
  const Bytes step = floor >> (std::bit_width(divisions) - 1);
  if (step == 0) return floor << 1;
  const Bytes low = size & ~(step - 1);
  return low == size ? low : low + step;
}

/// The size of the block for a request of `size` bytes, before any part of it is left over.
/// `one_is_unrounded`: release 2.0 used the request as it was where the table says 1.
constexpr Bytes round_size(Bytes size, const RoundupTable& table, bool one_is_unrounded = false) {
  if (size < kMinBlockSize) return kMinBlockSize;
  const int power = static_cast<int>(std::bit_width(size)) - 1;
  const std::uint32_t divisions = table[power <= 20 ? 0 : power >= 35 ? 15 : power - 20];
  if (one_is_unrounded && divisions == 1) return size;
  if (divisions > 1 && size > kMinBlockSize * divisions) {
    return roundup_power2_next_division(size, divisions);
  }
  return round_up(size, kMinBlockSize);
}

/// The size of the segment that is obtained for a block of `size` (rounded) bytes.
constexpr Bytes get_allocation_size(Bytes size, Bytes large_segment_size) {
  if (size <= kSmallSize) return kSmallBuffer;
  if (size < kMinLargeAlloc) return large_segment_size;
  return round_up(size, kRoundLarge);
}

}  // namespace memreplay::torch

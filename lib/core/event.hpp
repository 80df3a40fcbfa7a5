#pragma once

#include <cstdint>

namespace memreplay {

/// What an event of a trace does. `free` is `free_requested` and `free_completed` at once.
enum class Op : std::uint8_t {
  allocate,
  free,
  free_requested,  ///< the caller is done with the block, another stream may still use it
  free_completed,  ///< no stream uses the block any more
  empty_cache,
  marker,         ///< text in the tag column
  safe_frontier,  ///< BFC: the number is in the size column
  oom,  ///< the recorded program was refused `size` bytes; the address column holds the free bytes
        ///< of the device
  // What the recorded allocator asked of the driver. Never replayed, only compared with.
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
};

constexpr bool is_driver_event(Op op) { return op >= Op::segment_alloc; }

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <string_view>

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
  oom,  ///< the recorded program was refused `size` bytes; the address column holds the device's
        ///< free bytes
  // What the recorded allocator asked of the driver. Never replayed, only compared with.
  segment_alloc,
  segment_free,
  segment_map,
  segment_unmap,
};

constexpr bool is_driver_event(Op op) { return op >= Op::segment_alloc; }
constexpr bool obtains_memory(Op op) { return op == Op::segment_alloc || op == Op::segment_map; }
constexpr bool returns_memory(Op op) { return op == Op::segment_free || op == Op::segment_unmap; }
/// The program asked for memory, whether it got any or not.
constexpr bool is_request(Op op) { return op == Op::allocate || op == Op::oom; }

/// PyTorch's name of a driver event.
constexpr std::string_view driver_name(Op op) {
  switch (op) {
    case Op::segment_alloc:
      return "segment_alloc";
    case Op::segment_free:
      return "segment_free";
    case Op::segment_map:
      return "segment_map";
    default:
      return "segment_unmap";
  }
}

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <vector>

#include "core/request.hpp"

namespace memreplay {

enum class BlockState : std::uint8_t {
  allocated,
  pending,  ///< freed by its owner, still used by another stream
  free,
};

struct BlockInfo {
  Address address = 0;
  Bytes size = 0;       ///< after rounding
  Bytes requested = 0;  ///< 0 for a free block
  BlockState state = BlockState::free;
  Slot slot = kNoSlot;      ///< slot in the trace; kNoSlot for a free block
  std::uint32_t stack = 0;  ///< index into the recording's stacks; 0: none

  friend bool operator==(const BlockInfo&, const BlockInfo&) = default;
};

/// A range obtained from the device. Its blocks tile it in address order.
struct SegmentInfo {
  Address address = 0;
  Bytes size = 0;
  StreamIndex stream = 0;
  PoolIndex pool = 0;
  bool small_pool = false;  ///< PyTorch's pool of blocks up to 1 MiB
  bool expandable = false;  ///< one mapped run of a reservation
  std::uint32_t age = 0;    ///< lower is older; those of equal age count by address
  std::vector<BlockInfo> blocks;

  friend bool operator==(const SegmentInfo&, const SegmentInfo&) = default;
};

/// What an allocator holds at one moment: segments by ascending address.
struct MemoryState {
  std::vector<SegmentInfo> segments;

  friend bool operator==(const MemoryState&, const MemoryState&) = default;
};

/// Bytes that the segments hold together.
inline Bytes reserved_bytes(const MemoryState& state) {
  Bytes sum = 0;
  for (const SegmentInfo& segment : state.segments) sum += segment.size;
  return sum;
}

}  // namespace memreplay

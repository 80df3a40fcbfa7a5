#pragma once

#include <compare>
#include <cstdint>

#include "core/units.hpp"

namespace memreplay {

/// Number of a live block of a trace; used again after the block is gone.
using Slot = std::uint32_t;
/// A strategy's own number for a block that it placed.
using Handle = std::uint32_t;
/// Streams are numbered by ascending driver handle, so that order by index is order by handle.
using StreamIndex = std::uint16_t;
/// Pool 0 is the default pool; the others are private (CUDA graphs, MemPool, allocators of other
/// formats).
using PoolIndex = std::uint16_t;

inline constexpr Slot kNoSlot = UINT32_MAX;
inline constexpr Handle kNoHandle = UINT32_MAX;
inline constexpr StreamIndex kNoStream = UINT16_MAX;

/// PyTorch's MempoolId_t; {0, 0} is the default pool.
struct PoolId {
  std::uint64_t first = 0;
  std::uint64_t second = 0;

  friend auto operator<=>(const PoolId&, const PoolId&) = default;
};

/// How a private pool was made and is used. Recordings do not state it.
struct PoolOptions {
  bool of_a_graph = false;  ///< its requests are made while their stream is captured
  bool use_on_oom = false;  ///< lends its free blocks to the default pool
  bool no_split = false;    ///< a request gets a whole block

  friend bool operator==(const PoolOptions&, const PoolOptions&) = default;
};

/// A private pool that a pluggable allocator serves (CUDAPluggableAllocator in a MemPool: vLLM's
/// sleep mode, torch_memory_saver). It may return its memory for a while, and no entry says when.
struct PluggablePool {
  PoolIndex pool = 0;
  PoolId id;
  Bytes most = 0;  ///< reserved by it at once

  friend bool operator==(const PluggablePool&, const PluggablePool&) = default;
};

/// Where a request comes from. Events carry the number of a lane instead of both.
struct StreamPool {
  StreamIndex stream = 0;
  PoolIndex pool = 0;

  friend bool operator==(const StreamPool&, const StreamPool&) = default;
};

struct Request {
  Bytes size = 0;
  Bytes alignment = 0;  ///< power of two; 0: the caller did not say
  StreamIndex stream = 0;
  PoolIndex pool = 0;
  std::uint32_t thread = 0;        ///< 0 where the recording does not say
  std::uint32_t tag = 0;           ///< number of its text in the recording; 0: none
  std::uint64_t freed_before = 0;  ///< BFC: only memory freed by then will do; 0: any
  bool upper_end = false;          ///< BFC: asks for the upper end of a pool with two ends
};

/// Who gives a block back; another than asked for it where memory is handed over. A default one is
/// whoever asked for the block.
struct FreeOrigin {
  StreamIndex stream = kNoStream;
  std::uint32_t thread = 0;

  /// With the default made plain.
  FreeOrigin or_owner(FreeOrigin owner) const { return stream == kNoStream ? owner : *this; }
};

struct Placement {
  Address address = 0;
  Bytes size = 0;  ///< as charged: the request after the strategy's rounding
  Handle handle = kNoHandle;
};

}  // namespace memreplay

#pragma once

#include <cstdint>

#include "spool/spool_format.hpp"

namespace memreplay::capture {

enum class MemoryKind : std::uint8_t {
  device,
  stream_ordered,
  managed,
  pinned,     ///< on the host
  physical,   ///< without addresses; `address` of its records is the handle
  addresses,  ///< without memory
};

/// One call of CUDA. The result is the library's own.
struct CudaRecord : Record {
  std::uint64_t stream = 0;  ///< handle
  std::uint64_t object = 0;  ///< the memory pool that was named; of a mapping the handle
  std::int32_t device = 0;
  std::int32_t result = 0;
  MemoryKind kind = MemoryKind::device;
};
static_assert(sizeof(CudaRecord) == 64);

}  // namespace memreplay::capture

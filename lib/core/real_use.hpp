#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/units.hpp"

namespace memreplay {

/// What real memory says of itself.
struct RealMemoryFacts {
  std::string kind;       ///< "cuda" or "host"
  std::string name;       ///< the card's, or that of the machine's processor
  Bytes granularity = 0;  ///< physical memory comes in multiples of it
  Bytes total = 0;
  bool has_virtual_memory = true;
  bool has_display = false;         ///< others draw on it
  bool pages_when_touched = false;  ///< physical memory comes with the first write to it
};

/// The memory in use since `begin_measuring`, as the system has it: other programs' included where
/// it does not tell them apart.
struct MeasuredMemory {
  Bytes used = 0;
  Bytes peak_used = 0;                        ///< the most among the samples taken
  std::optional<std::uint64_t> minor_faults;  ///< pages that only had to be mapped
  std::optional<std::uint64_t> major_faults;  ///< pages that were read from disk
};

/// Counts of blocks that were written and compared on real memory.
struct TouchedBlocks {
  std::uint64_t filled = 0;
  std::uint64_t checked = 0;  ///< and found as they were filled
  Bytes filled_bytes = 0;  ///< whole sizes of the filled blocks, whatever part of them was written
};

}  // namespace memreplay

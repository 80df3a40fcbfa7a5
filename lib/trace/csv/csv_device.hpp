#pragma once

#include <cstddef>
#include <cstdint>

#include "core/address_table.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {

/// Whether the events of a device stay in its trace, or leave it as they are read.
enum class CsvEvents { kept, handed_on };

inline constexpr std::uint64_t kNotFreed = UINT64_MAX;

/// What its allocation said of a block.
struct CsvBuffer {
  Bytes size = 0;
  std::uint64_t freed = kNotFreed;  ///< event
  Slot slot = kNoSlot;              ///< or the number of the allocation, see CsvDevice
  std::uint32_t thread = 0;
  std::uint16_t lane = 0;
  bool completed = false;
};

/// What has been read of one device of a CSV.
struct CsvDevice {
  CsvDevice(int gpu, CsvEvents fate);

  bool is_full() const { return numbers == kNoSlot; }
  /// False where that block is live already.
  bool allocate(std::uint64_t id, std::uint16_t lane, Bytes size, std::uint8_t align_log2,
                std::uint32_t thread);
  /// Only where events are kept. From the first completion on: any block that was freed may be
  /// meant, and which slots come again shows at the end.
  void keep_freed();
  /// `block` is live.
  void free(std::uint64_t id, std::uint16_t lane, CsvBuffer& block);
  /// `block` was freed; of devices that keep those.
  void complete_free(std::uint16_t lane, CsvBuffer& block);
  /// After all rows: slots in place of numbers.
  void number_slots();

  TraceBuilder builder;
  /// By id, the latest of each: live, or freed where these are kept.
  AddressTable<CsvBuffer> buffers;
  bool keeps_freed = false;
  CsvEvents events;
  Slot numbers = 0;  ///< number of allocations; where freed ones are kept these stand for slots
};

}  // namespace memreplay

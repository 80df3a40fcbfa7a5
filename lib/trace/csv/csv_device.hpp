#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "core/address_table.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {

/// Whether the events of a device stay in its trace, or leave it as they are read.
enum class CsvEvents { kept, handed_on };

/// Where a block was allocated and freed.
struct CsvBuffer {
  std::size_t allocated = 0;              ///< a row of CsvDevice::allocations
  std::optional<std::size_t> freed = {};  ///< event
  bool completed = false;
};

/// What has been read of one device of a CSV.
struct CsvDevice {
  CsvDevice(int gpu, CsvEvents fate);

  /// Where the allocations of `buffers` stand: all events that were kept, else one row a slot, of
  /// which lane, slot, size and thread are set.
  const EventColumns& allocations() {
    return events == CsvEvents::kept ? static_cast<EventColumns&>(builder.trace()) : live;
  }
  bool is_full() const { return numbers == kNoSlot; }
  void allocate(std::uint64_t id, std::uint16_t lane, Bytes size, std::uint8_t align_log2,
                std::uint32_t thread);
  /// From the first completion on: any block that was freed may be meant. Of events that are kept.
  void keep_freed();
  /// Behind the free of a block, where those are not kept.
  void forget(std::uint64_t id, Slot slot);
  /// Behind all rows: slots in place of numbers. Of events that are kept.
  void number_slots();

  TraceBuilder builder;
  /// By id, the latest of each: live, or freed where these are kept.
  AddressTable<CsvBuffer> buffers;
  bool keeps_freed = false;
  CsvEvents events;
  EventColumns live;  ///< by slot, where events are handed on
  Slot numbers = 0;   ///< of allocations, which take the place of slots until all rows are read
};

}  // namespace memreplay

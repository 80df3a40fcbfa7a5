#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>

#include "trace/mrt/column_code.hpp"
#include "trace/mrt/event_code.hpp"
#include "trace/streamed_events.hpp"

namespace memreplay {

// The payload of a block: the cold columns that there are, a bit each; then sections: of the events
// (operations, slots and sizes), of lane_of, of align_log2, of each of those columns. A section is
// its length and its bytes, those of a cold column packed by zstd.

/// The codes of all columns but operation, slot and size, in the order of their sections.
struct ColumnCodes {
  ColumnCode<std::uint16_t> lane_of{Likely::as_its_block};
  ColumnCode<std::uint8_t> align_log2{Likely::as_before};
  /// As kColdColumns.
  std::tuple<ColumnCode<std::int64_t>, ColumnCode<std::uint32_t>, ColumnCode<std::uint32_t>,
             ColumnCode<std::uint32_t>, ColumnCode<Address>, ColumnCode<std::uint64_t>,
             ColumnCode<std::uint64_t>, ColumnCode<std::uint8_t>>
      cold{Likely::as_before,    Likely::as_its_block, Likely::as_its_block, Likely::as_its_block,
           Likely::as_its_block, Likely::as_its_block, Likely::as_before,    Likely::as_before};
};

/// Writes the events of one trace, block by block in their order.
class BlockEncoder {
 public:
  /// The payload of the events in [from, to).
  std::string encode(const EventColumns& events, std::size_t from, std::size_t to);

 private:
  EventEncoder events_;
  ColumnCodes codes_;
};

/// The cold columns that are wanted, a bit each.
inline constexpr std::uint32_t kEveryColdColumn = 0xff;
std::uint32_t cold_columns(ColdColumns);

/// How far the numbers of a trace may go.
struct NumberLimits {
  Slot slots = 0;
  std::size_t texts = 0;
  std::size_t stacks = 0;
};

/// Reads them again in the same order.
class BlockDecoder {
 public:
  BlockDecoder(const NumberLimits& limits, std::uint32_t wanted_columns);

  /// Puts the `count` events of a block in the place of those there. What means nothing, or lies
  /// beyond the limits, throws MrtFault. O(count).
  void decode(std::string_view payload, std::size_t count, EventColumns& events);

 private:
  ByteCursor unpacked(std::string_view section, std::size_t count);
  void check_numbers(const EventColumns& events) const;

  NumberLimits limits_;
  std::uint32_t wanted_;
  EventDecoder events_;
  ColumnCodes codes_;
  std::string unpacked_;
};

}  // namespace memreplay

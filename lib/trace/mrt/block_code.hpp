#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "core/address_table.hpp"
#include "trace/event_columns.hpp"
#include "trace/mrt/mrt_bytes.hpp"

namespace memreplay {

// Operation, slot and size of an event as one number, mostly. Its low two bits:
//   0  allocate, of the size with the number above in the dictionary
//   1  allocate, of the size above, which enters the dictionary while there is room
//   2  free, of the block named above
//   3  the next two bits: 0 free_completed of the block whose free was requested right before;
//      1 free_requested, 2 free_completed, of the block named above; 3 spelled out: operation
//      above, slot + 1 and size as two further numbers
// A block is named by its age in allocations (low bit 0) or by its slot (1), whichever is smaller.
// An allocation takes the slot that was given back last, or else the next new one.

/// What both sides remember alike: which slot an allocation takes.
class SlotGuess {
 public:
  Slot take() {
    if (given_back_.empty()) return next_;
    const Slot slot = given_back_.back();
    given_back_.pop_back();
    return slot;
  }
  void taken(Slot slot) {
    if (slot >= next_) next_ = slot + 1;
  }
  void give_back(Slot slot) { given_back_.push_back(slot); }

 private:
  std::vector<Slot> given_back_;
  Slot next_ = 0;
};

/// Writes the events of one trace. Memory is bounded by the slots in use.
class EventEncoder {
 public:
  void put(const EventColumns& events, std::size_t event, std::string& out);

 private:
  struct Block {
    Bytes size = 0;
    std::uint64_t number = UINT64_MAX;  ///< number of its allocation; none: before the first one
  };

  void put_allocation(Slot slot, Bytes size, std::string& out);
  void put_free(Op op, Slot slot, Bytes size, std::string& out);
  void spell(Op op, Slot slot, Bytes size, std::string& out);
  std::uint64_t name_of(Slot slot) const;
  bool knows(Slot slot, Bytes size) const {
    return slot < blocks_.size() && blocks_[slot].size == size;
  }

  std::unordered_map<Bytes, std::uint64_t> dictionary_;
  std::vector<Block> blocks_;  ///< by slot
  SlotGuess guess_;
  std::uint64_t allocations_ = 0;
  Slot requested_ = kNoSlot;  ///< by the event before, to be freed
};

/// Reads them again. What it gives lies within the slots, and is else what the bytes say: whether
/// blocks are allocated and freed in turn is for the gate.
class EventDecoder {
 public:
  explicit EventDecoder(Slot slot_count);

  /// Puts `count` events in the place of those there. Throws MrtFault.
  void take(ByteCursor& code, std::size_t count, EventColumns& events);

 private:
  struct Event {
    Op op;
    bool has_size;  ///< else it is that of its block
    Slot slot;
    Bytes size;
  };

  Event next(ByteCursor& code);
  Event allocation(Slot slot, Bytes size);
  Event free(Op op, Slot slot);
  Event rare(std::uint64_t code, ByteCursor& rest);
  Event spelled(std::uint64_t op, ByteCursor& rest);
  Slot named(std::uint64_t name) const;

  std::vector<Bytes> dictionary_;
  TableOf<Bytes> sizes_;      ///< by slot
  std::vector<Slot> recent_;  ///< by number of the allocation, in a ring
  SlotGuess guess_;
  std::uint64_t allocations_ = 0;
  Slot requested_ = kNoSlot;
};

/// What a value is likely to be.
enum class Likely {
  as_before,     ///< the previous event's value
  as_its_block,  ///< the value of the previous event of its block, else that of the last allocation
};

/// One column of a trace as differences from what is likely, a number each; nothing at all for
/// events that have none. Writes or reads, in the order of the events.
template <typename T>
class ColumnCode {
 public:
  explicit ColumnCode(Likely likely) : likely_(likely) {}

  /// Writes the `values` of the events in [from, to).
  void put(const std::vector<T>& values, const EventColumns& events, std::size_t from,
           std::size_t to, std::string& out) {
    std::string differences;
    bool any = false;
    for (std::size_t i = from; i < to; ++i) {
      const std::uint64_t difference = zigzag(difference_of(values[i], guess(events, i)));
      any |= difference != 0;
      put_number(differences, difference);
      note(events, i, values[i]);
    }
    if (any) out += differences;
  }

  /// One value for each of the events, in the place of those there. Throws MrtFault.
  void take(ByteCursor code, const EventColumns& events, std::vector<T>& values) {
    const std::size_t count = events.ops.size();
    const bool any = code.left() > 0;
    values.resize(count);
    if (!any && only_zeros_) {
      values.assign(count, T{});
      return;
    }
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t difference = any ? unzigzag(code.number()) : 0;
      values[i] = static_cast<T>(static_cast<std::uint64_t>(guess(events, i)) +
                                 static_cast<std::uint64_t>(difference));
      note(events, i, values[i]);
    }
    if (code.left() > 0) throw MrtFault("a column of more values than events");
  }

 private:
  static std::int64_t difference_of(T value, T guess) {
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(value) -
                                     static_cast<std::uint64_t>(guess));
  }

  T guess(const EventColumns& events, std::size_t event) const {
    const Slot slot = events.slots[event];
    if (likely_ == Likely::as_before || slot == kNoSlot || events.ops[event] == Op::allocate) {
      return last_;
    }
    return slot < of_slot_.size() ? of_slot_[slot] : T{};
  }

  void note(const EventColumns& events, std::size_t event, T value) {
    const Slot slot = events.slots[event];
    only_zeros_ &= value == T{};
    if (likely_ == Likely::as_before || events.ops[event] == Op::allocate) last_ = value;
    if (likely_ == Likely::as_before || slot == kNoSlot) return;
    if (slot >= of_slot_.size()) {
      if (value == T{}) return;
      of_slot_.resize(std::size_t{slot} + 1);
    }
    of_slot_[slot] = value;
  }

  Likely likely_;
  T last_{};
  bool only_zeros_ = true;  ///< so far
  std::vector<T> of_slot_;
};

// The payload of a block: the cold columns that there are, a bit each, and which of the first three
// sections are packed (none before version 2); then sections: of the events (operations, slots and
// sizes), of lane_of, of align_log2, of each of those columns. A section is its length and its
// bytes, packed by zstd where it is of a cold column or said to be.

/// What a block says to hold is believed so far.
inline constexpr std::size_t kMostEventsAByte = 1024;

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
  /// The bytes of so many numbers at most.
  ByteCursor unpacked(std::string_view section, std::size_t numbers);
  void check_numbers(const EventColumns& events) const;

  NumberLimits limits_;
  std::uint32_t wanted_;
  EventDecoder events_;
  ColumnCodes codes_;
  std::string unpacked_;
};

}  // namespace memreplay

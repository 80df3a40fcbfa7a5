#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/huge_pages.hpp"
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

}  // namespace memreplay

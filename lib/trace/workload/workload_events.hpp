#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "trace/event_columns.hpp"

namespace memreplay {

using TakeEvents = std::function<void(const EventColumns&)>;

/// What a workload does, event by event, handed on so many at a time. Memory is bounded by the live
/// blocks.
class WorkloadEvents {
 public:
  /// No more than `most` events; what a workload does after them has no effect. `tagged`: each
  /// event says what it is for.
  WorkloadEvents(std::uint64_t most, bool tagged, const TakeEvents& take)
      : left_(most), tagged_(tagged), take_(take) {}

  bool full() const { return left_ == 0; }
  /// A block of at least 1 byte. `tag`: a text of the workload.
  Slot allocate(Bytes size, std::uint32_t tag = 0);
  void free(Slot slot);
  void mark(std::uint32_t tag) { add(Op::marker, kNoSlot, 0, tag); }
  /// Hands on what is left; gives the number of slots in use.
  Slot finish();

 private:
  void add(Op op, Slot slot, Bytes size, std::uint32_t tag);
  void hand_on();

  std::uint64_t left_;
  bool tagged_;
  const TakeEvents& take_;
  EventColumns events_;
  std::vector<Bytes> sizes_;         ///< by slot
  std::vector<std::uint32_t> tags_;  ///< by slot
  std::vector<Slot> free_slots_;
  Slot slots_ = 0;
};

}  // namespace memreplay

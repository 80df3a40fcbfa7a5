#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// Builds one Trace event by event: numbers lanes and slots. The caller knows which cold columns
/// its format has and fills them itself, one entry an event, in `trace()`.
class TraceBuilder {
 public:
  explicit TraceBuilder(int gpu);

  /// Room in the hot columns for as many events as there will be, or for rather more.
  void reserve_exactly(std::size_t events);
  void reserve_at_most(std::size_t events);
  /// Appends an event. `slot` is kNoSlot where it concerns no block.
  void add(Op op, std::uint16_t lane, Slot slot, Bytes size, std::uint8_t align_log2 = 0) {
    trace_.ops.push_back(op);
    trace_.lane_of.push_back(lane);
    trace_.slots.push_back(slot);
    trace_.sizes.push_back(size);
    trace_.align_log2.push_back(align_log2);
  }
  /// The number of (stream handle, pool). Throws std::length_error above 65,535 of them.
  std::uint16_t lane(std::uint64_t stream, PoolId pool) {
    const LaneName wanted{stream, pool};
    if (lane_names_.empty() || lane_names_[latest_] != wanted) latest_ = number_of_lane(wanted);
    return latest_;
  }
  /// The stream handle and the pool of a lane.
  std::pair<std::uint64_t, PoolId> lane_named(std::uint16_t lane) const {
    return lane_names_[lane];
  }
  Slot take_slot() {
    if (free_slots_.empty()) return trace_.slot_count++;
    const Slot slot = free_slots_.back();
    free_slots_.pop_back();
    return slot;
  }
  void return_slot(Slot slot) { free_slots_.push_back(slot); }
  /// As if none had been taken.
  void forget_slots() {
    trace_.slot_count = 0;
    free_slots_.clear();
  }

  Trace& trace() { return trace_; }
  /// Renumbers streams and pools by ascending handle and id, also in start and end states (which
  /// hold the provisional numbers of `lane`), and hands the trace over.
  Trace finish();
  /// Provisional numbers, for start and end states.
  StreamIndex stream(std::uint64_t handle);
  PoolIndex pool(PoolId id);

 private:
  using LaneName = std::pair<std::uint64_t, PoolId>;

  std::uint16_t number_of_lane(const LaneName& name);

  Trace trace_;
  std::map<std::uint64_t, StreamIndex> streams_;
  std::map<PoolId, PoolIndex> pools_;
  std::map<std::pair<StreamIndex, PoolIndex>, std::uint16_t> lanes_;
  std::vector<LaneName> lane_names_;
  std::uint16_t latest_ = 0;  ///< lane asked for
  std::vector<Slot> free_slots_;
};

}  // namespace memreplay

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// The place of a cold column in kColdColumns.
template <auto column>
consteval std::size_t cold_index() {
  const auto is_it = []<typename Other>(Other other) {
    if constexpr (std::is_same_v<Other, std::remove_const_t<decltype(column)>>) {
      return other == column;
    } else {
      return false;
    }
  };
  std::size_t index = 0;
  std::apply([&](auto... other) { (void)((is_it(other) || (++index, false)) || ...); },
             kColdColumns);
  return index;
}

/// Builds one Trace event by event: numbers lanes and slots. The caller knows which cold columns
/// its format has and fills them, after each event. O(1) an event.
class TraceBuilder {
 public:
  explicit TraceBuilder(int gpu);

  /// Room in the hot columns for as many events as there will be, or for rather more.
  void reserve_exactly(std::size_t events);
  void reserve_at_most(std::size_t events);
  /// Appends an event. `slot` is kNoSlot where it concerns no block.
  void add(Op op, std::uint16_t lane, Slot slot, Bytes size, std::uint8_t align_log2 = 0) {
    if (count_ == kTogether) put_behind();
    const std::size_t at = count_++;
    latest_events_.ops[at] = op;
    latest_events_.lane_of[at] = lane;
    latest_events_.slots[at] = slot;
    latest_events_.sizes[at] = size;
    latest_events_.align_log2[at] = align_log2;
  }
  /// Gives all events that have nothing in a cold column yet this there.
  template <auto column, typename Value>
  void fill(Value value) {
    std::ptrdiff_t& filled = filled_[cold_index<column>()];
    const auto last = static_cast<std::ptrdiff_t>(count_) - 1;
    if (filled != last) return fill_others<column>(value);
    (latest_events_.*column)[count_ - 1] = value;
    filled = last + 1;
  }
  /// Whether there are such events.
  template <auto column>
  bool lacks() const {
    return filled_[cold_index<column>()] < static_cast<std::ptrdiff_t>(count_);
  }
  /// Events so far, but for those that were taken out of the trace.
  std::size_t size() const { return trace_.ops.size() + count_; }
  Op& op(std::size_t event) {
    const std::size_t before = trace_.ops.size();
    return event < before ? trace_.ops[event] : latest_events_.ops[event - before];
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

  /// With all events so far; not to be kept over the next one.
  Trace& trace() {
    if (count_ > 0) put_behind();
    return trace_;
  }
  /// Renumbers streams and pools by ascending handle and id, also in start and end states (which
  /// hold the provisional numbers of `lane`), and hands the trace over.
  Trace finish();
  /// Provisional numbers, for start and end states.
  StreamIndex stream(std::uint64_t handle);
  PoolIndex pool(PoolId id);

 private:
  using LaneName = std::pair<std::uint64_t, PoolId>;

  /// So many events go into the trace at once: one check for room, not one a column.
  static constexpr std::size_t kTogether = 256;
  static constexpr std::ptrdiff_t kBehind = -2;  // is no event's number, nor that of one before

  std::uint16_t number_of_lane(const LaneName& name);
  void put_behind();
  template <auto column, typename Value>
  [[gnu::noinline]] void fill_others(Value value) {
    std::ptrdiff_t& filled = filled_[cold_index<column>()];
    if (filled < 0) {
      (trace_.*column).resize(trace_.ops.size(), value);
      filled = 0;
    }
    for (const auto count = static_cast<std::ptrdiff_t>(count_); filled < count; ++filled) {
      (latest_events_.*column)[static_cast<std::size_t>(filled)] = value;
    }
  }

  Trace trace_;
  EventColumns latest_events_;  ///< not in the trace yet; columns of kTogether always
  std::size_t count_ = 0;       ///< how many latest events there are
  /// How many of them are filled, by cold column; kBehind: nor are some of the trace.
  std::array<std::ptrdiff_t, std::tuple_size_v<decltype(kColdColumns)>> filled_ = {};
  std::map<std::uint64_t, StreamIndex> streams_;
  std::map<PoolId, PoolIndex> pools_;
  std::map<std::pair<StreamIndex, PoolIndex>, std::uint16_t> lanes_;
  std::vector<LaneName> lane_names_;
  std::uint16_t latest_ = 0;  ///< lane asked for
  std::vector<Slot> free_slots_;
};

}  // namespace memreplay

#pragma once

#include <map>
#include <vector>

#include "run/late_start/rehearsal.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {

/// Builds the state in which a recording starts, segment by segment, and its events.
class LateTrace {
 public:
  LateTrace& segment(Bytes size, bool small_pool = false, bool expandable = false) {
    segments_.push_back({.address = next_, .size = size, .small_pool = small_pool});
    segments_.back().expandable = expandable;
    next_ += size;
    filled_ = 0;
    return *this;
  }
  /// Comes after what the segment holds already. Its slot is the number of blocks before it.
  LateTrace& live(Bytes size) { return add(size, size, BlockState::allocated); }
  LateTrace& free_space(Bytes size) { return add(size, 0, BlockState::free); }
  LateTrace& alloc(Slot slot, Bytes size) {
    sizes_[slot] = size;
    return event(Op::allocate, slot);
  }
  LateTrace& free(Slot slot) { return event(Op::free, slot); }
  LateTrace& request_free(Slot slot) { return event(Op::free_requested, slot); }

  /// To be called once, as `parts`.
  Trace finish() {
    Trace trace = builder_.finish();
    trace.slot_count = 32;
    trace.coverage.starts_empty = segments_.empty();
    trace.start.segments = segments_;
    return trace;
  }
  WarmParts parts(const torch::Settings& settings = {}) { return warm_parts(finish(), settings); }

 private:
  LateTrace& add(Bytes size, Bytes requested, BlockState state) {
    SegmentInfo& segment = segments_.back();
    const bool free = state == BlockState::free;
    if (!free) sizes_[next_slot_] = requested;
    segment.blocks.push_back(
        {segment.address + filled_, size, requested, state, free ? kNoSlot : next_slot_++});
    filled_ += size;
    return *this;
  }
  LateTrace& event(Op op, Slot slot) {
    builder_.add(op, builder_.lane(0, PoolId{}), slot, sizes_[slot]);
    return *this;
  }

  TraceBuilder builder_{0};
  std::vector<SegmentInfo> segments_;
  std::map<Slot, Bytes> sizes_;
  Address next_ = Address{1} << 40;
  Bytes filled_ = 0;
  Slot next_slot_ = 0;
};

}  // namespace memreplay

#pragma once

#include <algorithm>
#include <cstdint>

#include "core/peaks.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// Bytes requested by live blocks, and held by the recorded allocator from its device, event by
/// event.
class RecordedLevels {
 public:
  /// Before the first event.
  explicit RecordedLevels(const Trace& trace)
      : trace_(trace), reserved_(reserved_bytes(trace.start)) {
    for (const SegmentInfo& segment : trace.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::allocated) requested_ += block.requested;
      }
    }
    peaks_.note({}, requested_, reserved_);
  }

  /// To be called for every event in turn. O(1).
  void play(std::size_t event) { play(event, trace_.ops[event], trace_.sizes[event]); }
  /// For a trace whose events are elsewhere.
  void play(std::uint64_t event, Op op, Bytes size) {
    // A recording that lost its beginning may free, and return, more than it is known to hold.
    // Whether an event allocates or frees cannot be foreseen: no branch for it.
    const auto if_so = [&](bool is) { return size & (0 - Bytes{is}); };
    requested_ += if_so(op == Op::allocate);
    requested_ -= std::min(requested_, if_so(op == Op::free || op == Op::free_requested));
    if (is_driver_event(op)) {
      if (obtains_memory(op)) reserved_ += size;
      if (returns_memory(op)) reserved_ -= std::min(reserved_, size);
    }
    peaks_.note(event, requested_, reserved_);
  }
  Bytes requested() const { return requested_; }
  Bytes reserved() const { return reserved_; }
  const Peaks& peaks() const { return peaks_; }

 private:
  const Trace& trace_;
  Bytes requested_ = 0;
  Bytes reserved_;
  Peaks peaks_;
};

/// Whether what was reserved is known from the start or the events.
inline bool shows_reserved(const Trace& trace) {
  return !trace.start.segments.empty() || std::ranges::any_of(trace.ops, obtains_memory);
}

}  // namespace memreplay

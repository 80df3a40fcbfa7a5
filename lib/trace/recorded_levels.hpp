#pragma once

#include <algorithm>

#include "trace/trace.hpp"

namespace memreplay {

/// Bytes requested by live blocks, and held by the recorded allocator from its device, event by
/// event.
class RecordedLevels {
 public:
  /// Before the first event.
  explicit RecordedLevels(const Trace& trace)
      : trace_(trace), reserved_(reserved_bytes(trace.start)), reserved_peak_(reserved_) {
    for (const SegmentInfo& segment : trace.start.segments) {
      for (const BlockInfo& block : segment.blocks) {
        if (block.state == BlockState::allocated) requested_ += block.requested;
      }
    }
    requested_peak_ = requested_;
  }

  /// To be called for every event in turn. O(1).
  void play(std::size_t event) {
    const Op op = trace_.ops[event];
    const Bytes size = trace_.sizes[event];
    // A recording that lost its beginning may free, and return, more than it is known to hold.
    if (op == Op::allocate) requested_ += size;
    if (op == Op::free || op == Op::free_requested) requested_ -= std::min(requested_, size);
    if (obtains_memory(op)) reserved_ += size;
    if (returns_memory(op)) reserved_ -= std::min(reserved_, size);
    requested_peak_ = std::max(requested_peak_, requested_);
    reserved_peak_ = std::max(reserved_peak_, reserved_);
  }
  Bytes requested() const { return requested_; }
  Bytes requested_peak() const { return requested_peak_; }
  Bytes reserved() const { return reserved_; }
  Bytes reserved_peak() const { return reserved_peak_; }

 private:
  const Trace& trace_;
  Bytes requested_ = 0;
  Bytes requested_peak_ = 0;
  Bytes reserved_;
  Bytes reserved_peak_;
};

/// Whether what was reserved is known from the start or the events.
inline bool shows_reserved(const Trace& trace) {
  return !trace.start.segments.empty() || std::ranges::any_of(trace.ops, obtains_memory);
}

}  // namespace memreplay

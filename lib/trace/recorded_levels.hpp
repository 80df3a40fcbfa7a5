#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "trace/trace.hpp"

namespace memreplay {

/// A moment of a run at which most was live, or most was reserved.
struct Peak {
  std::optional<std::uint64_t> event;  ///< right after which; nothing: before the first one
  Bytes requested = 0;                 ///< by live blocks
  Bytes reserved = 0;
};

/// Follows what is live and reserved for the moments of the most of each.
class Peaks {
 public:
  /// To be called for every moment in turn. O(1).
  void note(std::optional<std::uint64_t> event, Bytes requested, Bytes reserved) {
    const Peak here{event, requested, reserved};
    if (fresh_ || requested > live_.requested) live_ = here;
    // Where a cache is full, most is reserved for long: what is live then tells the moments apart.
    const bool fuller = reserved == reserved_.reserved && requested > reserved_.requested;
    if (fresh_ || reserved > reserved_.reserved || fuller) reserved_ = here;
    fresh_ = false;
  }

  /// The first moment at which most was requested.
  const Peak& live() const { return live_; }
  /// Of the moments at which most was reserved the first one with most requested.
  const Peak& reserved() const { return reserved_; }

 private:
  bool fresh_ = true;
  Peak live_;
  Peak reserved_;
};

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
  void play(std::size_t event) {
    const Op op = trace_.ops[event];
    const Bytes size = trace_.sizes[event];
    // A recording that lost its beginning may free, and return, more than it is known to hold.
    if (op == Op::allocate) requested_ += size;
    if (op == Op::free || op == Op::free_requested) requested_ -= std::min(requested_, size);
    if (obtains_memory(op)) reserved_ += size;
    if (returns_memory(op)) reserved_ -= std::min(reserved_, size);
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

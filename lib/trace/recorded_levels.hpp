#pragma once

#include <algorithm>

#include "trace/trace.hpp"

namespace memreplay {

/// Bytes that the recorded allocator held from its device, event by event.
class RecordedReserve {
 public:
  explicit RecordedReserve(const Trace& trace)
      : trace_(trace), bytes_(reserved_bytes(trace.start)), peak_(bytes_) {}

  /// O(1).
  void play(std::size_t event) {
    const Op op = trace_.ops[event];
    const Bytes size = trace_.sizes[event];
    if (obtains_memory(op)) bytes_ += size;
    // A recording that lost its beginning may return more than it is known to hold.
    if (returns_memory(op)) bytes_ -= std::min(bytes_, size);
    peak_ = std::max(peak_, bytes_);
  }
  Bytes bytes() const { return bytes_; }
  Bytes peak() const { return peak_; }

 private:
  const Trace& trace_;
  Bytes bytes_;
  Bytes peak_;
};

}  // namespace memreplay

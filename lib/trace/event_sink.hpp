#pragma once

#include "trace/trace.hpp"

namespace memreplay {

/// Takes a recording as its events come, and keeps none of them.
class EventSink {
 public:
  virtual ~EventSink() = default;
  /// So many events it should get at once, but for the first ones and the last ones.
  virtual std::size_t together() const { return kTogether; }
  /// Further events of the trace with this number in what `finish` gets. A trace has the same
  /// columns each time; traces may take turns.
  virtual void add(std::size_t trace, const EventColumns& events) = 0;
  /// After all events: the recording; the columns of its traces are not looked at.
  virtual void finish(const Recording& recording) = 0;

  static constexpr std::size_t kTogether = 1 << 16;  ///< as a block of an .mrt has
};

}  // namespace memreplay

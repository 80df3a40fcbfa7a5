#pragma once

#include "trace/trace.hpp"

namespace memreplay {

/// Takes a recording as its events come, and keeps none of them.
class EventSink {
 public:
  virtual ~EventSink() = default;
  /// Further events of the trace with this number in what `finish` gets. A trace has the same
  /// columns each time; traces may take turns.
  virtual void add(std::size_t trace, const EventColumns& events) = 0;
  /// Behind all events: the recording, of whose traces the columns are not looked at.
  virtual void finish(const Recording& recording) = 0;
};

}  // namespace memreplay

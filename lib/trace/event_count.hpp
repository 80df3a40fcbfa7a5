#pragma once

#include "trace/event_columns.hpp"
#include "trace/streamed_events.hpp"

namespace memreplay {

/// What is known of all events of a trace that starts empty, as they come in pieces.
class EventCount {
 public:
  /// Further events. O(1) each.
  void add(const EventColumns& events);
  const EventTotals& totals() const { return totals_; }

 private:
  EventTotals totals_;
  Bytes requested_ = 0;
};

}  // namespace memreplay

#pragma once

#include <vector>

#include "trace/event_columns.hpp"
#include "trace/event_sink.hpp"

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

/// Counts a recording's events as they come, and keeps none of them.
class CountedEvents final : public EventSink {
 public:
  std::size_t together() const override { return 1 << 13; }  ///< they stay in the caches
  void add(std::size_t trace, const EventColumns& events) override;
  void finish(const Recording&) override {}

  /// As if none had come.
  void clear() { counts_.clear(); }
  /// Gives the traces what was counted of each (Trace::streamed).
  void hand_over(Recording& recording) const;

 private:
  std::vector<EventCount> counts_;  ///< by trace
};

}  // namespace memreplay

#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "trace/gate.hpp"
#include "trace/reader.hpp"
#include "trace/trace_builder.hpp"

namespace memreplay {

/// Where the events of a reader's one trace leave as they are read, after a look whether something
/// is wrong with them; or where they stay in the trace.
class EventOutlet {
 public:
  /// Without `begin` they stay. `path` is for messages.
  EventOutlet(std::string path, BeginEvents begin)
      : path_(std::move(path)), begin_(std::move(begin)) {}

  bool is_open() const { return static_cast<bool>(begin_); }
  /// Events have left.
  bool is_used() const { return sink_ != nullptr; }
  /// How many events to make room for, of so many that there may be.
  std::size_t room(std::size_t events) const { return is_open() ? together_ : events; }
  /// After an event whose columns are filled: enough events leave together. Throws InputError, as
  /// check_recording does.
  void filled(TraceBuilder& events) {
    if (is_open() && events.size() >= together_) hand_on(events.trace());
  }
  /// After all events: also the last ones leave.
  void close(TraceBuilder& events) {
    if (is_open() && events.size() > 0) hand_on(events.trace());
  }
  /// After that: the recording, for who has the events.
  void finish(const Recording& recording) const {
    if (!is_used()) return;
    check_recording(recording);
    sink_->finish(recording);
  }

 private:
  void hand_on(Trace& trace);

  std::string path_;
  BeginEvents begin_;
  std::optional<TraceGate> gate_;
  EventSink* sink_ = nullptr;  ///< once there were events to hand on
  std::size_t together_ = EventSink::kTogether;
};

}  // namespace memreplay

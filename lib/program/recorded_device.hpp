#pragma once

#include <cstdint>
#include <optional>

#include "trace/trace.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// The first request that a recorded program was refused, and what the recording says of it.
struct RecordedOom {
  std::uint64_t event = 0;
  Bytes requested = 0;    ///< as rounded by the recorded allocator
  Bytes reserved = 0;     ///< what that allocator held
  Bytes device_free = 0;  ///< what the device had left

  /// The device without what others held of it.
  Bytes room() const { return reserved + device_free; }
};

/// The first refused request; unset where none was. O(events).
std::optional<RecordedOom> first_recorded_oom(const Trace& trace);

/// The most that the recorded allocator held. O(events).
Bytes recorded_peak_reserved(const Trace& trace);

/// Unset where the recording does not show it. O(events).
std::optional<RecordedRoom> recorded_room(const Subject& subject);

}  // namespace memreplay

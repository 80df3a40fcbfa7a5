#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/units.hpp"

namespace memreplay {

/// The curves of a replay at one event.
struct TimelinePoint {
  std::uint64_t event = 0;
  std::optional<std::int64_t> time_us;
  Bytes requested = 0;
  Bytes allocated = 0;
  Bytes reserved = 0;
};

inline constexpr const char* kTimelineHeader = "event,time_us,requested,allocated,reserved\n";

/// Appends a CSV row; a point without a time leaves its cell empty.
void append_csv(std::string& out, const TimelinePoint& point);

}  // namespace memreplay

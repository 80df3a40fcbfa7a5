#pragma once

#include <string>

#include "trace/trace.hpp"

namespace memreplay {

/// The events of a trace as words: "a0:1000@2" is an allocation of 1000 bytes in slot 0, on the
/// second stream; so f a free, r and c its two halves, x a refusal, m a marker, and the others o.
inline std::string drawn_events(const Trace& trace) {
  constexpr std::string_view kLetters = "afrcomox";
  std::string drawn;
  for (std::size_t i = 0; i < trace.ops.size(); ++i) {
    const auto op = static_cast<std::size_t>(trace.ops[i]);
    drawn += i == 0 ? "" : " ";
    drawn += op < kLetters.size() ? kLetters[op] : 'o';
    if (trace.slots[i] != kNoSlot) drawn += std::to_string(trace.slots[i]);
    if (trace.sizes[i] > 0) drawn += ':' + std::to_string(trace.sizes[i]);
    const StreamPool lane = trace.lane(i);
    if (lane.stream > 0) drawn += '@' + std::to_string(lane.stream + 1);
    if (lane.pool > 0) drawn += '/' + std::to_string(lane.pool + 1);
  }
  return drawn;
}

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/recorded/answer.hpp"
#include "analysis/recorded/places.hpp"
#include "core/request.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// A block of a trace that was requested and not freed.
struct LiveBlock {
  Slot slot = kNoSlot;
  Bytes requested = 0;
  StreamIndex stream = 0;
  PoolIndex pool = 0;
  Asker asker;
  std::optional<std::uint64_t> born;  ///< the event of its request; unset: from before the trace
};

/// What is live right before `event` (the trace's size: at its end), oldest first. Frees that were
/// requested count, completed or not. O(events).
std::vector<LiveBlock> live_before(const Trace& trace, std::uint64_t event);

/// The event after the first one at which the most requested bytes are live: what lives there is
/// live_before(it). O(events).
std::uint64_t requested_peak(const Trace& trace);

/// Most bytes first; then by name.
std::vector<PlaceSum> by_place(const std::vector<LiveBlock>& blocks, const Places& places);

}  // namespace memreplay

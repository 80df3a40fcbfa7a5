#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/request.hpp"
#include "program/facts.hpp"
#include "program/places.hpp"
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

/// What blocks hold, from the outermost callers down to the places: most bytes first, then by name.
std::vector<CallNode> call_tree(const std::vector<LiveBlock>& blocks, const Places& places);

/// What `live` holds right after `event` (unset: before the first one) and what had been requested
/// by then, by whole stacks; where there is none, the place is the only frame. O(events).
StackProfile stack_profile(const Recording& recording, const Trace& trace, const Places& places,
                           const std::vector<LiveBlock>& live, std::optional<std::uint64_t> event);

/// What stands for the place of a request without a stack: "requests of [4 MiB, 8 MiB)".
std::string size_class(Bytes size);

/// `live` are blocks of the trace, which is one of the recording. Nothing is left out.
PlacesHeld places_held(const Recording& recording, const Trace& trace,
                       const std::vector<LiveBlock>& live);

/// The largest `count`; the first by name among equals.
PlacesHeld largest_places(const PlacesHeld& held, std::size_t count);

/// The places that certainly hold more than before, most first. Lines that moved with their
/// function are matched in order; where lines came or went as well, the function counts as one
/// place. Empty where one is by stack, the other by size.
std::vector<PlaceGrowth> growth(const PlacesHeld& before, const PlacesHeld& now);

}  // namespace memreplay

#pragma once

#include <string>
#include <vector>

#include "analysis/recorded/answer.hpp"
#include "analysis/recorded/live_blocks.hpp"

namespace memreplay {

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

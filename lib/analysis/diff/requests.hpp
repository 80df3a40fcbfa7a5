#pragma once

#include "analysis/diff/answer.hpp"
#include "analysis/diff/common_places.hpp"

namespace memreplay {

/// Step k of one is laid beside step k of the other; everything where one has no steps. O(events).
RequestsDiff diff_requests(const CommonPlaces& places, const RecordedTrace& a, const Steps& a_steps,
                           const RecordedTrace& b, const Steps& b_steps);

}  // namespace memreplay

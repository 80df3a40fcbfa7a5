#pragma once

#include <optional>

#include "analysis/edit/made_recording.hpp"

namespace memreplay {

/// A recording that ends at a failure, with the rest of the failed step as the step before went on
/// from there. Nothing where no failure ends it, or the requests before it were made in no earlier
/// step. What an optimizer keeps from its first step on is not asked for again.
/// O(events · kAlike), for a few requests that are like the failed one.
std::optional<MadeRecording> with_rest_of_step(const Subject& subject);

}  // namespace memreplay

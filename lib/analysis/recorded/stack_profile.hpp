#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/recorded/answer.hpp"
#include "analysis/recorded/live_blocks.hpp"
#include "analysis/recorded/places.hpp"

namespace memreplay {

/// What `live` holds right after `event` (unset: before the first one) and what had been requested
/// by then, by whole stacks; where there is none, the place is the only frame. O(events).
StackProfile stack_profile(const Recording& recording, const Trace& trace, const Places& places,
                           const std::vector<LiveBlock>& live, std::optional<std::uint64_t> event);

}  // namespace memreplay

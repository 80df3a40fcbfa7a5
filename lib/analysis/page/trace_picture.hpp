#pragma once

#include <cstdint>

#include "analysis/page/answer.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// At most `most` events: up to a tenth after the first refused request of the recording, or after
/// the requested peak, and the rest before it. O(events).
EventWindow window_of_interest(const Trace& trace, std::uint64_t most);

/// O(events + stacks).
TracePicture picture_of(const Subject& subject, EventWindow window);

}  // namespace memreplay

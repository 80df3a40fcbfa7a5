#pragma once

#include <cstdint>

#include "analysis/page/answer.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// At most `most` events: up to a tenth behind the first refused request of the recording, or
/// behind the requested peak, and what came before. O(events).
EventWindow window_of_interest(const Trace& trace, std::uint64_t most);

/// O(events + stacks).
TracePicture picture_of(const Subject& subject, EventWindow window);

}  // namespace memreplay

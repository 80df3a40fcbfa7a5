#pragma once

#include <cstdint>
#include <optional>

#include "analysis/verdict/answer.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The first request of a recording that is more, with what was live beside it then, than `room`
/// (unset: endless): live blocks that no setting makes fewer. Unset: there is none. O(events).
std::optional<RequestInRoom> too_much_in(const Trace& trace, std::optional<Bytes> room);

}  // namespace memreplay

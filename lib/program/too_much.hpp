#pragma once

#include <cstdint>
#include <optional>

#include "program/verdict.hpp"
#include "replay/program.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The first request of a recording that is more, with what was live beside it then, than `room`
/// (unset: endless): live blocks that no setting makes fewer. Unset: there is none. O(events).
std::optional<RequestInRoom> too_much_in(const Trace& trace, std::optional<Bytes> room);

/// The blocks from before a recording, where they are more than `room` (unset: endless). Unset:
/// they are not, or do not exist, as of a cold start.
std::optional<StateBeyondDevice> state_beyond(const Trace& trace, std::optional<Bytes> room,
                                              StartMode start = StartMode::automatic);

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <optional>

#include "analysis/tune/answer.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// A request that is more, with what is live beside it, than `room` (nothing: endless): the first
/// that a run was refused, else one of the recording's events before `to`, whose live blocks no
/// setting makes fewer. Nothing where there is none. O(events).
std::optional<Shortage> shortage_of(const Run& run, const Trace& trace, std::uint64_t to,
                                    std::optional<Bytes> room);

}  // namespace memreplay

#pragma once

#include <cstdint>

#include "core/control.hpp"
#include "replay/replay.hpp"
#include "run/answer.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// The blocks of what is replayed with `options`, placed with their future known. Its cost is
/// bounded by work, not time: the same subject has the same floor anywhere, or none where it would
/// cost more than the `events` that were replayed. The planner is an extension: where it is not
/// built, the floor says so.
PlannedFloor planned_floor(const Subject& subject, const ReplayOptions& options,
                           std::uint64_t events, const Control& control);

}  // namespace memreplay

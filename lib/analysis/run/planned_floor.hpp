#pragma once

#include "analysis/run/answer.hpp"
#include "replay/replay.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// The blocks of what is replayed with `options`, placed with their future known. Its cost is
/// bounded by work, not time: the same subject has the same floor anywhere.
PlannedFloor planned_floor(const Subject& subject, const ReplayOptions& options,
                           const Control& control);

}  // namespace memreplay

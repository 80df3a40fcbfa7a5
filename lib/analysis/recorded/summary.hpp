#pragma once

#include "analysis/info/answer.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// What a recording says about one of its devices. O(events).
TraceSummary summarise(const Recording& recording, const Trace& trace);
/// What a recording says that has no device.
TraceSummary summarise(const Recording& recording);

}  // namespace memreplay

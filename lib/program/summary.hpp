#pragma once

#include <cstddef>

#include "metrics/run_picture.hpp"
#include "program/trace_summary.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// What a recording says about one of its devices. O(events), but for those left in their file.
TraceSummary summarise(const Recording& recording, const Trace& trace);
/// What a recording says that has no device.
TraceSummary summarise(const Recording& recording);

/// Whether the program asks for memory anywhere in it: without that nothing can be replayed under
/// other settings or on other devices. O(events before the first request).
bool requests_anything(const Trace& trace);

/// A recording as it was: `allocated` are the requested bytes, `reserved` is empty where the
/// recording does not show them. There are no segments, retries or fragmentation. O(events).
RunPicture recorded_picture(const Trace& trace, std::size_t most_points);

}  // namespace memreplay

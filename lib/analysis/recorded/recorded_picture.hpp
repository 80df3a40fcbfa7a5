#pragma once

#include <cstddef>

#include "metrics/run_picture.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// A recording as it was: `allocated` are the requested bytes, `reserved` is empty where the
/// recording does not show them. There are no segments, retries or fragmentation. O(events).
RunPicture recorded_picture(const Trace& trace, std::size_t most_points);

}  // namespace memreplay

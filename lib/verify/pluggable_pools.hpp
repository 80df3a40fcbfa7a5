#pragma once

#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// The private pools whose segments all lie a TiB and more from every segment of the default pool:
/// in mapped reservations, where cudaMalloc gives nothing. None where markers say what slept.
/// `texts` are the recording's. O(events log events).
std::vector<PluggablePool> pluggable_pools(const Trace& trace,
                                           const std::vector<std::string>& texts);

}  // namespace memreplay

#pragma once

#include "trace/workload/workload.hpp"

namespace memreplay {

/// Requests of 512 bytes to 64 MiB, equally many of each power of two; any live block is freed
/// next.
Slot make_random_workload(const WorkloadOptions& options, const TakeEvents& take);

}  // namespace memreplay

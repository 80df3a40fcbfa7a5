#pragma once

#include <optional>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// The devices with events, or where none has any, those with memory; only `gpu` when it is given.
/// Throws UsageError where the recording has no such device.
std::vector<const Trace*> chosen_traces(const Recording& recording, std::optional<int> gpu);

}  // namespace memreplay

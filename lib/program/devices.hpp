#pragma once

#include <optional>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// The devices with events, or where none has any, those with memory; only `gpu` when it is given.
/// One whose events are all marks and that never had memory is not there: nothing is answered for
/// it. Throws UsageError where the recording has no such device.
std::vector<const Trace*> chosen_traces(const Recording& recording, std::optional<int> gpu);

}  // namespace memreplay

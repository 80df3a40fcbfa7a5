#pragma once

#include <vector>

#include "options/options.hpp"
#include "report/results.hpp"
#include "trace/trace.hpp"
#include "verify/verify.hpp"

namespace memreplay {

/// What a recording says about one of its devices.
TraceSummary summarise(const Recording& recording, const Trace& trace);
/// For a recording without any device.
TraceSummary summarise(const Recording& recording);
VerifyRun summarise(const VerifyResult& result);
DeviceSummary summarise(const SimulatedDeviceOptions& device);

/// The devices with events, or where none has any, those with memory; only `gpu` when it is given.
/// Throws UsageError where the recording has no such device.
std::vector<const Trace*> chosen_traces(const Recording& recording, std::optional<int> gpu);

}  // namespace memreplay

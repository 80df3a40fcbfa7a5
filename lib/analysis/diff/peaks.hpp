#pragma once

#include <vector>

#include "analysis/diff/answer.hpp"
#include "analysis/recorded/live_blocks.hpp"
#include "analysis/run/setup.hpp"
#include "strategy/registry.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// What is live at the peak of a span of these peaks, of what was served.
std::vector<LiveBlock> live_at(const SidePeaks& peaks, const SpanPeak& span, const Trace& trace);

/// As recorded. O(events).
SidePeaks recorded_peaks(const Subject& subject);

/// Under a strategy: one run. For a recording that starts late the whole peak is an estimate, and
/// the rest comes from the nearest replay. Throws UsageError where the strategy cannot be made.
SidePeaks replayed_peaks(const Subject& subject, const StrategySpec& spec, const Setup& setup,
                         const Control& control);

}  // namespace memreplay

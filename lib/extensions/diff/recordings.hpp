#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "extensions/diff/answer.hpp"
#include "extensions/diff/requests.hpp"
#include "program/live_blocks.hpp"
#include "run/setup.hpp"
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

/// The largest difference in bytes first, what is the same last; then by place, pool, stream.
std::vector<PlaceDiff> diff_blocks(const CommonPlaces& places, const std::vector<LiveBlock>& live_a,
                                   const std::vector<LiveBlock>& live_b);

/// `at_step`, from 1: compares the peaks within that step. Throws UsageError where one recording
/// has no such step. The peaks are those of `a` and `b`, whose subjects these are.
RecordingsDiff diff_recordings(const Subject& a, SidePeaks a_peaks, const Subject& b,
                               SidePeaks b_peaks, std::optional<std::uint64_t> at_step,
                               PlaceBy by = PlaceBy::place);

}  // namespace memreplay

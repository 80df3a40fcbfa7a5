#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/diff/common_places.hpp"
#include "analysis/diff/peaks.hpp"

namespace memreplay {

/// The largest difference in bytes first, what is the same last; then by place, pool, stream.
std::vector<PlaceDiff> diff_blocks(const CommonPlaces& places, const std::vector<LiveBlock>& live_a,
                                   const std::vector<LiveBlock>& live_b);

/// `at_step`, from 1: compares the peaks within that step. Throws UsageError where one recording
/// has no such step. The peaks are those of `a` and `b`, whose subjects these are.
RecordingsDiff diff_recordings(const Subject& a, SidePeaks a_peaks, const Subject& b,
                               SidePeaks b_peaks, std::optional<std::uint64_t> at_step,
                               PlaceBy by = PlaceBy::place);

}  // namespace memreplay

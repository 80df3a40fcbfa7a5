#pragma once

#include <cstddef>

#include "analysis/tune/tune.hpp"

namespace memreplay {

/// The number of the outcome, or of an earlier one with the same figures. O(outcomes).
std::size_t add_outcome(TuneOutcome outcome, TuneResult& result);

/// Ranks what was tried, at least one, and says what to recommend.
void conclude(const TuneOptions& options, TuneResult& result);

/// Sets `none_serves` by what the runs came to.
void note_whether_any_serves(TuneResult& result);

}  // namespace memreplay

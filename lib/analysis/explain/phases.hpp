#pragma once

#include <vector>

#include "analysis/explain/answer.hpp"
#include "analysis/explain/moment.hpp"
#include "analysis/recorded/places.hpp"

namespace memreplay {

/// What the recording annotates. Where that is nothing the steps of the program, "step 1", and
/// "before step 1" what is before them; none where no steps are known either.
std::vector<Phase> phases_or_steps(const Recording& recording, const Trace& trace);

/// The peaks of all phases of one name together, in order of their first beginning.
std::vector<PhasePeak> phase_peaks(const std::vector<Phase>& phases, const Curves& curves);

/// Fills in what the allocator has at the peaks, and who holds most. O(events + peaks * (places +
/// live blocks)), and a replay where the source is one.
void note_uses(const Trace& trace, const Places& places, const MomentSource& source,
               const Curves& curves, std::vector<PhasePeak>& peaks);

}  // namespace memreplay

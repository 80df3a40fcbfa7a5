#pragma once

#include <vector>

#include "program/places.hpp"
#include "questions/explain/answer.hpp"
#include "questions/explain/moment.hpp"
#include "trace/trace.hpp"

namespace memreplay {

/// The peaks of all phases of one name together, in order of their first beginning.
std::vector<PhasePeak> phase_peaks(const std::vector<Phase>& phases, const Curves& curves);

/// Fills in what the allocator has at the peaks, and who holds most. O(events + peaks * (places +
/// live blocks)), and a replay where the source is one.
void note_uses(const Trace& trace, const Places& places, const MomentSource& source,
               const Curves& curves, std::vector<PhasePeak>& peaks);

}  // namespace memreplay

#pragma once

#include "analysis/tune/tune.hpp"

namespace memreplay {

/// Estimates, where recordings start late and the objective looks at reserved bytes, what the
/// baseline and the outcomes of a search come to: by rank, as far as `late_events` go, but what was
/// recommended and six more in any case, and no more where the search has a limit in seconds. What
/// is estimated or exact is ranked by that, before what is not. Settings that are alike in a replay
/// are apart where the recording determines what only some of them come to. `result` then
/// recommends the simplest within a hundredth of the best among those that the verdict supports;
/// where there is none, `best` is the likeliest one. Costs some ten replays of each late recording
/// for an outcome.
LateVerdict weigh_late_recordings(const TuneOptions& options, TuneResult& result);

}  // namespace memreplay

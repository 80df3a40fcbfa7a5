#pragma once

#include <cstdint>
#include <string>

#include "analysis/tune/tune.hpp"

namespace memreplay {

/// Whether a recommendation survives that recordings which start late do not determine it.
struct LateVerdict {
  enum class Kind {
    not_late,        ///< no recording starts late, or the objective is not reserved bytes
    supported,       ///< better than the baseline by the whole interval, or serves what it does not
    undecided,       ///< better by the estimates, but not by the whole interval
    nothing_better,  ///< not by more than a hundredth
    interrupted,     ///< cancelled before that was known
  };
  Kind kind = Kind::not_late;
  BytesInterval best;         ///< reserved peak of what is recommended, or would have been
  BytesInterval baseline;     ///< and of the baseline
  std::string setting;        ///< that of `best`, as a configuration
  std::uint64_t weighed = 0;  ///< outcomes that were estimated
  std::uint64_t open = 0;     ///< outcomes that the recordings do not determine
};

/// Estimates, where recordings start late and the objective is reserved bytes, what the baseline
/// and the outcomes of a search come to: by rank, as far as `late_events` go, but what was
/// recommended and six more in any case, and no more where the search has a limit in seconds. What
/// is estimated or exact is ranked by that, before what is not. Settings that are alike in a replay
/// are apart where the recording determines what only some of them come to. `result` then
/// recommends the simplest within a hundredth of the best among those that the verdict supports;
/// nothing where there is none. Costs some ten replays of each late recording for an outcome.
LateVerdict weigh_late_recordings(const TuneOptions& options, TuneResult& result);

}  // namespace memreplay

#pragma once

#include <string>

#include "analysis/tune/tune.hpp"

namespace memreplay {

/// Whether a recommendation survives that recordings which start late do not determine it.
struct LateVerdict {
  bool looked = false;     ///< some recording starts late, and the objective is reserved bytes
  bool supported = false;  ///< what `result` recommends now is better by the whole interval
  BytesInterval best;      ///< reserved peak of what is recommended, or would have been
  BytesInterval baseline;  ///< and of the baseline
  std::string setting;     ///< that of `best`, as a configuration
};

/// Lets `result` recommend, of its first outcomes by rank, one whose interval lies below that of
/// the baseline (or that fits where the baseline does not), and nothing where there is none. Costs
/// some hundred replays of each recording that starts late.
LateVerdict weigh_late_recordings(const TuneOptions& options, TuneResult& result);

}  // namespace memreplay

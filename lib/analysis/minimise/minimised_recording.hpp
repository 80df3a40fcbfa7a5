#pragma once

#include "analysis/minimise/answer.hpp"
#include "analysis/run/setup.hpp"
#include "core/control.hpp"
#include "strategy/registry.hpp"
#include "trace/trace.hpp"

namespace memreplay {

struct MinimisedRecording {
  Recording recording;    ///< one small trace of plain requests, as if read from a CSV
  StrategySpec shown_by;  ///< under which the small trace shows the same
  MinimiseAnswer answer;
};

/// A small trace that shows what `trace` of the recording does under `spec`. After an interruption
/// as small as it was by then. Throws as minimise does.
MinimisedRecording minimised(const Recording& recording, const Trace& trace,
                             const StrategySpec& spec, const Setup& setup,
                             const MinimiseQuestion& question, const Control& control);

}  // namespace memreplay

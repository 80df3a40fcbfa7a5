#pragma once

#include <functional>

#include "analysis/recorded/inputs.hpp"
#include "output/terminal.hpp"

namespace memreplay {

/// Reads recordings, which shows how far it is; `behind` as Inputs has it.
Inputs read_inputs(InputOptions input, Progress& progress,
                   OnUnreadable behind = OnUnreadable::stop);

/// Hands over the recordings one by one; `use` is false to end it. Of one that cannot be read is
/// said why, and the others go on. kDone, or kUnusable where there was such a one.
int for_each_recording(const InputOptions& input, Progress& progress,
                       const std::function<bool(const InputOptions& one)>& use);

}  // namespace memreplay

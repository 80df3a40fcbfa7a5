#pragma once

#include "analysis/edit/selector.hpp"
#include "analysis/info/answer.hpp"

namespace memreplay {

/// What a selector picks of a trace. O(events + places log places).
SelectedBlocks selection_of(const Recording& recording, const Trace& trace,
                            const Selector& selector);

}  // namespace memreplay

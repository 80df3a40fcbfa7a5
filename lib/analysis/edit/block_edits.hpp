#pragma once

#include "analysis/edit/edit.hpp"
#include "analysis/edit/rewrite.hpp"
#include "analysis/edit/scopes_end.hpp"
#include "metrics/made_facts.hpp"

namespace memreplay {

struct EditedBlocks {
  Rewritten written;
  EditFacts facts;
};

/// The trace with torch.autograd.graph.save_on_cpu around what is selected: a saved block dies in
/// the forward as it would if nothing were saved, and is asked for again before the operation of
/// the backward that frees it. Throws UsageError where nothing that is selected is saved.
/// O(events + allocations · frames).
EditedBlocks offloaded(const Recording& recording, const Trace& trace, const Edit& edit,
                       Deaths deaths);

/// The trace with the selected blocks left out, shortened, or of another size. Throws UsageError
/// where nothing is selected. O(events).
EditedBlocks with_blocks_changed(const Recording& recording, const Trace& trace, const Edit& edit);

}  // namespace memreplay

#pragma once

#include "analysis/edit/edit.hpp"
#include "analysis/edit/scopes_end.hpp"
#include "metrics/made_facts.hpp"

namespace memreplay {

/// What the recording leaves open of a checkpointed program.
struct CheckpointGuess {
  Deaths deaths = Deaths::by_scope;
  /// An output that its own backward needs is needed by what follows its segment as well.
  bool keeps_outputs = true;
  /// What lives to the end of its segment is returned beside the output, and kept by who called.
  bool returns_more = false;
};

struct Checkpointed {
  Rewritten written;
  EditFacts facts;
  bool open = false;  ///< keeping outputs or not makes a difference
};

/// The trace of the program with torch.utils.checkpoint around the code. In each segment the blocks
/// that its backward frees, but for its output, die in the forward as they would if nothing were
/// saved; the segment's requests are made again right before its backward. With groups within it
/// they are made again once to give these their inputs, and those of each once more before its own
/// backward. Throws UsageError where the code is in no stack, or nothing of it is saved.
/// O(events + segments · their requests).
Checkpointed checkpointed(const Recording& recording, const Trace& trace, const Edit& edit,
                          const CheckpointGuess& guess);

}  // namespace memreplay

#pragma once

#include "analysis/edit/block_edits.hpp"
#include "analysis/edit/cast_types.hpp"

namespace memreplay {

/// The trace of a program in fp32 as it would be with torch.autocast around its forward passes:
/// matrix products, convolutions and attention in half precision, with copies of weights and
/// inputs; norms, softmax and losses in fp32. Throws UsageError where the recording shows no such
/// operation, or runs under autocast already. O(events + operations · gradients).
EditedBlocks autocasted(const Recording& recording, const Trace& trace, const Edit& edit,
                        const AutocastGuess& guess);

}  // namespace memreplay

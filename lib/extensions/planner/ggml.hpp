#pragma once

#include <span>

#include "extensions/planner/blocks.hpp"

namespace memreplay {

/// Places blocks as ggml measures a graph (ggml-alloc.c, ggml_dyn_tallocr_alloc): in the order of
/// time each at the low end of the smallest hole below the top that is large enough, of equals the
/// highest, else at the top; holes that touch join. Not here: buffers of a limited size, of which
/// ggml takes several; tensors computed in place, which ask for nothing. O(n log n), but for
/// alignments above those of the sizes, which pass over holes that do not serve.
Packing place_as_ggml(std::span<const PlannedBlock> blocks);

}  // namespace memreplay

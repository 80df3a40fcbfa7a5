#pragma once

#include <vector>

#include "analysis/edit/forward_passes.hpp"

namespace memreplay {

/// Finds for the operations of a pass which weight they multiply with, and what of the backward
/// pass is theirs: gradients of parameters come in the reverse order of the operations. Without
/// any, a weight is found by its size, where one number of rows fits most operations.
/// `parameters`: sizes, upwards. O(operations · gradients).
void find_weights(ForwardPass& pass, const Trace& trace, const BlockLives& lives,
                  const std::vector<NamedOperation>& names, const std::vector<Bytes>& parameters);

}  // namespace memreplay

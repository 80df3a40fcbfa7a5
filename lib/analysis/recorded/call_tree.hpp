#pragma once

#include <vector>

#include "analysis/recorded/live_blocks.hpp"

namespace memreplay {

/// What blocks hold, from the outermost callers down to the places: most bytes first, then by name.
std::vector<CallNode> call_tree(const std::vector<LiveBlock>& blocks, const Places& places);

}  // namespace memreplay

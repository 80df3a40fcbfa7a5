#pragma once

#include <random>
#include <vector>

#include "extensions/planner/blocks.hpp"

namespace memreplay {

struct RandomBlocks {
  std::size_t count = 0;
  std::uint64_t last_time = 20;
  Bytes largest = 20;
  int alignments = 1;  ///< 1, or 2^0 to 2^(alignments - 1)
};

inline std::vector<PlannedBlock> random_blocks(std::mt19937_64& random, const RandomBlocks& wish) {
  std::vector<PlannedBlock> blocks;
  for (std::size_t i = 0; i < wish.count; ++i) {
    const std::uint64_t start = random() % wish.last_time;
    const std::uint64_t end = start + 1 + random() % (wish.last_time - start);
    blocks.push_back({start, end, 1 + random() % wish.largest,
                      Bytes{1} << random() % static_cast<unsigned>(wish.alignments)});
  }
  return blocks;
}

}  // namespace memreplay

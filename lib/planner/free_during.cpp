#include "planner/free_during.hpp"

#include <algorithm>
#include <numeric>

namespace memreplay {

std::vector<std::vector<Plan::Range>> free_during(std::span<const PlannedBlock> blocks,
                                                  const Packing& packing,
                                                  std::span<const TimeSpan> spans) {
  std::vector<std::uint32_t> by_start(blocks.size());
  std::iota(by_start.begin(), by_start.end(), 0);
  std::ranges::stable_sort(by_start, {}, [&](std::uint32_t row) { return blocks[row].start; });
  std::vector<std::uint32_t> begun;
  auto next = by_start.begin();
  std::vector<std::vector<Plan::Range>> free;
  for (const TimeSpan& span : spans) {
    std::erase_if(begun, [&](std::uint32_t row) { return blocks[row].end <= span.from; });
    for (; next != by_start.end() && blocks[*next].start < span.to; ++next) {
      if (blocks[*next].end > span.from) begun.push_back(*next);
    }
    std::vector<Plan::Range> taken;
    for (const std::uint32_t row : begun) {
      if (blocks[row].start >= span.to) continue;
      taken.push_back({packing.offsets[row], packing.offsets[row] + blocks[row].size});
    }
    taken.push_back({packing.height, packing.height});
    std::ranges::sort(taken, {}, &Plan::Range::from);
    Bytes at = 0;
    auto& ranges = free.emplace_back();
    for (const Plan::Range& range : taken) {
      if (at < range.from) ranges.push_back({at, range.from});
      at = std::max(at, range.to);
    }
  }
  return free;
}

}  // namespace memreplay

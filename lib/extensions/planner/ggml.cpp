#include "extensions/planner/ggml.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <numeric>
#include <set>
#include <utility>

namespace memreplay {
namespace {

/// Memory that grows at its top.
class GraphArena {
 public:
  Bytes place(const PlannedBlock& block) {
    for (auto hole = by_size_.lower_bound({block.size, 0}); hole != by_size_.end(); ++hole) {
      const Bytes from = ~hole->second;
      const Bytes to = from + hole->first;
      const Bytes at = round_up(from, block.alignment);
      if (at > to || to - at < block.size) continue;
      erase(from);
      insert(from, at);
      insert(at + block.size, to);
      return at;
    }
    const Bytes at = round_up(top_, block.alignment);
    insert(std::exchange(top_, at + block.size), at);
    return at;
  }

  void free(Bytes from, Bytes size) {
    Bytes to = from + size;
    const auto above = holes_.lower_bound(from);
    if (above != holes_.begin()) {
      const auto [below_from, below_to] = *std::prev(above);
      if (below_to == from) {
        erase(below_from);
        from = below_from;
      }
    }
    if (const auto next = holes_.find(to); next != holes_.end()) {
      const auto [next_from, next_to] = *next;
      erase(next_from);
      to = next_to;
    }
    to == top_ ? void(top_ = from) : insert(from, to);
  }

 private:
  void insert(Bytes from, Bytes to) {
    if (from == to) return;
    holes_.emplace(from, to);
    by_size_.emplace(to - from, ~from);
  }
  void erase(Bytes from) {
    const auto hole = holes_.find(from);
    by_size_.erase({hole->second - from, ~from});
    holes_.erase(hole);
  }

  std::map<Bytes, Bytes> holes_;               ///< from -> to, below the top
  std::set<std::pair<Bytes, Bytes>> by_size_;  ///< size, and where from as the highest first
  Bytes top_ = 0;
};

}  // namespace

Packing place_as_ggml(std::span<const PlannedBlock> blocks) {
  std::vector<std::size_t> starts(blocks.size());
  std::iota(starts.begin(), starts.end(), std::size_t{0});
  std::vector<std::size_t> ends = starts;
  std::ranges::stable_sort(starts, {}, [&](std::size_t row) { return blocks[row].start; });
  std::ranges::stable_sort(ends, {}, [&](std::size_t row) { return blocks[row].end; });
  std::vector<Bytes> offsets(blocks.size());
  GraphArena arena;
  auto end = ends.begin();
  for (const std::size_t row : starts) {
    for (; blocks[*end].end <= blocks[row].start; ++end)
      arena.free(offsets[*end], blocks[*end].size);
    offsets[row] = arena.place(blocks[row]);
  }
  return packing_of(blocks, std::move(offsets));
}

}  // namespace memreplay

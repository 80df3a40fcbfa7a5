#include "extensions/planner/instant_gaps.hpp"

#include <algorithm>
#include <bit>

namespace memreplay {

InstantGaps::InstantGaps(std::span<const PlannedBlock> blocks) : blocks_(blocks) {
  std::vector<std::uint64_t> times;
  for (const PlannedBlock& block : blocks) times.push_back(block.start);
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  const auto number = [&](std::uint64_t time) {
    return static_cast<std::uint32_t>(std::lower_bound(times.begin(), times.end(), time) -
                                      times.begin());
  };
  for (const PlannedBlock& block : blocks) {
    starts_.push_back(number(block.start));
    ends_.push_back(number(block.end));
  }
  const std::size_t instants = times.size() / kApart + 1;
  leaves_ = static_cast<std::uint32_t>(std::bit_ceil(instants));
  at_instant_.assign(instants, Gaps(1));
  during_.assign(2 * std::size_t{leaves_}, Gaps(1));
  starting_.resize(instants);
  ending_.resize(instants);
}

/// Leaves what is free in both, and large enough.
void InstantGaps::meet(const Gaps& others, Bytes size) {
  met_.clear();
  auto mine = gaps_.begin();
  auto other = others.begin();
  while (mine != gaps_.end() && other != others.end()) {
    const Bytes from = std::max(mine->from, other->from);
    const Bytes to = std::min(mine->to, other->to);
    if (from < to && to - from >= size) met_.push_back({from, to});
    if (mine->to < other->to) {
      ++mine;
    } else {
      ++other;
    }
  }
  gaps_.swap(met_);
}

void InstantGaps::take(Gaps& gaps, Bytes from, Bytes to) {
  const auto first = std::partition_point(gaps.begin(), gaps.end(),
                                          [&](const OffsetGap& gap) { return gap.to <= from; });
  auto last = first;
  while (last != gaps.end() && last->from < to) ++last;
  if (first == last) return;
  const OffsetGap below{first->from, from}, above{to, (last - 1)->to};
  const bool has_below = below.from < below.to, has_above = above.from < above.to;
  auto at = first;
  if (has_below && has_above && last - first == 1) {
    at = gaps.insert(first, below) + 1;
    *at = above;
    return;
  }
  if (has_below) *at++ = below;
  if (has_above) *at++ = above;
  gaps.erase(at, last);
}

const std::vector<OffsetGap>& InstantGaps::gaps_of(std::uint32_t row) {
  const Bytes size = blocks_[row].size;
  const std::uint32_t first = first_of(row), last = last_of(row);
  gaps_ = at_instant_[last];
  std::uint32_t from = first + leaves_;
  for (std::uint32_t to = last + leaves_; from < to; from /= 2, to /= 2) {
    if (from % 2 == 1) meet(during_[from++], size);
    if (to % 2 == 1) meet(during_[--to], size);
  }
  for (const Edge& edge : starting_[last]) {
    if (edge.at < ends_[row]) take(gaps_, edge.from, edge.to);
  }
  if (first > 0) {
    for (const Edge& edge : ending_[first - 1]) {
      if (edge.at > starts_[row]) take(gaps_, edge.from, edge.to);
    }
  }
  return gaps_;
}

void InstantGaps::place(std::uint32_t row, Bytes offset) {
  const Bytes to = offset + blocks_[row].size;
  const std::uint32_t first = first_of(row), last = last_of(row);
  for (std::uint32_t instant = first; instant <= last; ++instant) {
    take(at_instant_[instant], offset, to);
  }
  // One that lives at no instant lives after that before it.
  std::uint32_t low = std::min(first, last) + leaves_;
  for (std::uint32_t high = last + leaves_; low > 0; low /= 2, high /= 2) {
    for (std::uint32_t node = low; node <= high; ++node) take(during_[node], offset, to);
  }
  starting_[starts_[row] / kApart].push_back({starts_[row], offset, to});
  ending_[last].push_back({ends_[row], offset, to});
}

}  // namespace memreplay

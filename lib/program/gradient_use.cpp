#include "program/gradient_use.hpp"

#include <algorithm>
#include <functional>

namespace memreplay {
namespace {

/// From the last request of a backward pass to the next request of the program.
struct EndOfPass {
  std::uint64_t from = 0;
  std::uint64_t to = 0;
  std::uint64_t middle = 0;  ///< a request amid the pass
  Bytes freed = 0;           ///< by then, of what the passes so far left
  Bytes kept = 0;
  std::uint64_t last_free = 0;
  bool frees_older = false;  ///< than the middle of the pass: no temporaries of its last operation
};

std::vector<EndOfPass> ends_of_passes(const Trace& trace, std::span<const std::uint64_t> requests,
                                      const std::vector<bool>& is_backward) {
  std::vector<EndOfPass> ends;
  std::size_t begin = 0;
  for (std::size_t i = 0; i + 1 < requests.size(); ++i) {
    if (!is_backward[stack_at(trace, requests[i])]) {
      begin = i + 1;
    } else if (!is_backward[stack_at(trace, requests[i + 1])]) {
      ends.push_back({requests[i], requests[i + 1], requests[begin + (i - begin) / 2]});
    }
  }
  return ends;
}

/// What is alive over several ends is entered where it begins and where it is gone.
void enter_blocks(const BlockLives& lives, const std::vector<bool>& is_backward,
                  std::vector<EndOfPass>& ends) {
  std::vector<Bytes> more(ends.size() + 1);
  std::vector<Bytes> less(ends.size() + 1);
  for (const BlockLife& life : lives.blocks) {
    if (life.existed_before() || !is_backward[life.stack]) continue;
    const auto first = std::ranges::lower_bound(ends, life.born, {}, &EndOfPass::from);
    const auto last = std::ranges::lower_bound(ends, life.freed, {}, &EndOfPass::to);
    if (first > last) continue;
    more[static_cast<std::size_t>(first - ends.begin())] += life.size;
    less[static_cast<std::size_t>(last - ends.begin())] += life.size;
    if (last == ends.end() || life.freed < last->from) continue;
    last->freed += life.size;
    last->last_free = std::max(last->last_free, life.freed);
    last->frees_older |= life.born <= last->middle;
  }
  Bytes kept = 0;
  for (std::size_t i = 0; i < ends.size(); ++i) {
    kept += more[i];
    kept -= less[i];
    ends[i].kept = kept;
  }
}

std::uint64_t freed_after_others(const Trace& trace, const BlockLives& lives,
                                 std::span<const std::uint64_t> requests,
                                 const std::vector<bool>& is_backward) {
  std::vector<std::size_t> others = {0};  // by request: those of other passes before it
  for (const std::uint64_t request : requests) {
    others.push_back(others.back() + (is_backward[stack_at(trace, request)] ? 0 : 1));
  }
  const auto others_before = [&](std::uint64_t event) {
    const auto next = std::ranges::lower_bound(requests, event);
    return others[static_cast<std::size_t>(next - requests.begin())];
  };
  std::uint64_t used = 0;
  for (const BlockLife& life : lives.blocks) {
    if (life.existed_before() || life.freed == BlockLife::kNever) continue;
    const bool outlives = others_before(life.freed) > others_before(life.born);
    if (outlives && is_backward[life.stack]) used = std::max(used, life.freed);
  }
  return used;
}

}  // namespace

std::uint64_t gradients_used(const Trace& trace, const BlockLives& lives,
                             std::span<const std::uint64_t> requests,
                             const std::vector<bool>& is_backward) {
  // Nothing follows a backward pass where all requests, or none, are of one.
  if (std::ranges::adjacent_find(is_backward, std::not_equal_to()) == is_backward.end()) return 0;
  std::uint64_t used = freed_after_others(trace, lives, requests, is_backward);
  std::vector<EndOfPass> ends = ends_of_passes(trace, requests, is_backward);
  enter_blocks(lives, is_backward, ends);
  for (const EndOfPass& end : ends) {
    if (end.frees_older && end.freed > end.kept) used = std::max(used, end.last_free);
  }
  return used;
}

}  // namespace memreplay

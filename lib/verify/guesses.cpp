#include "verify/guesses.hpp"

#include <algorithm>
#include <numeric>

#include "core/torch_sizes.hpp"

namespace memreplay {
namespace {

// The life of the plain segment that holds `address`, in the pool that it has.
std::optional<PoolGuess> life_of(const Trace& trace, std::size_t event, Address address) {
  // The request after a recorded segment_alloc is the event; the segment may begin just before it.
  for (std::size_t i = std::min(event + 1, trace.size()); i-- > 0;) {
    if (trace.ops[i] != Op::segment_alloc) continue;
    PoolGuess life{i, trace.size(), trace.addresses[i], trace.sizes[i], trace.lane(i).pool};
    if (!life.holds(address)) continue;
    for (std::size_t j = i + 1; j < trace.size(); ++j) {
      if (trace.ops[j] != Op::segment_free || trace.addresses[j] != life.address) continue;
      life.to = j + 1;
      break;
    }
    return life;
  }
  return std::nullopt;
}

std::uint16_t lane_with(Trace& trace, StreamPool lane) {
  const auto found = std::ranges::find(trace.lanes, lane);
  const auto index = static_cast<std::uint16_t>(found - trace.lanes.begin());
  if (found == trace.lanes.end()) trace.lanes.push_back(lane);
  return index;
}

// Largest first: most large requests in expandable segments begin at multiples of it. Not all: some
// found no room for that.
std::vector<Bytes> seen_alignments(const Trace& trace) {
  constexpr Bytes kLargest = 16 * kKiB;
  std::vector<Address> large;
  for (std::size_t i = 0; i < trace.size(); ++i) {
    const bool is_large = trace.ops[i] == Op::allocate && trace.sizes[i] >= torch::kRoundLarge;
    if (is_large) large.push_back(trace.addresses[i]);
  }
  std::vector<Bytes> found;
  for (Bytes alignment = kLargest; alignment > 0; alignment -= kKiB) {
    const auto aligned =
        std::ranges::count_if(large, [&](Address at) { return at % alignment == 0; });
    if (static_cast<std::size_t>(aligned) * 4 >= large.size() * 3) found.push_back(alignment);
  }
  return found;
}

}  // namespace

std::vector<PoolGuess> guess_pools(const Trace& recorded, const Trace& trace, std::size_t event,
                                   std::span<const Address> addresses) {
  std::vector<PoolGuess> lives;
  for (const Address address : addresses) {
    const auto life = life_of(trace, event, address);
    if (!life || recorded.lane(life->from).pool != 0) continue;
    if (std::ranges::find(lives, *life) == lives.end()) lives.push_back(*life);
  }
  std::vector<PoolGuess> guesses;
  for (const PoolGuess& life : lives) {
    for (PoolIndex pool = 0; pool <= trace.pools.size(); ++pool) {
      if (pool == life.pool) continue;
      guesses.push_back(life);
      guesses.back().pool = pool;
    }
  }
  return guesses;
}

Trace with_guess(Trace trace, const PoolGuess& guess) {
  if (guess.pool == trace.pools.size()) {
    PoolId fresh = trace.pools.back();
    ++fresh.second;
    trace.pools.push_back(fresh);
  }
  for (std::size_t i = guess.from; i < guess.to; ++i) {
    if (trace.ops[i] == Op::oom || !guess.holds(trace.addresses[i])) continue;
    trace.lane_of[i] = lane_with(trace, {trace.lane(i).stream, guess.pool});
  }
  return trace;
}

std::optional<std::size_t> start_segment_at(const Trace& trace, Address address) {
  const auto& segments = trace.start.segments;
  const auto behind = std::ranges::upper_bound(segments, address, {}, &SegmentInfo::address);
  if (behind == segments.begin()) return std::nullopt;
  const auto found = std::prev(behind);
  if (address - found->address >= found->size) return std::nullopt;
  return static_cast<std::size_t>(found - segments.begin());
}

void keep_whole(std::vector<SegmentInfo>& segments, PoolIndex pool) {
  for (SegmentInfo& segment : segments) {
    if (segment.pool != pool || segment.expandable || segment.blocks.size() != 2) continue;
    if (segment.blocks.back().state != BlockState::free) continue;
    segment.blocks.pop_back();
    segment.blocks.front().size = segment.size;
  }
}

void set_older(std::vector<SegmentInfo>& segments, std::size_t older, std::size_t younger) {
  std::vector<std::size_t> order(segments.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return segments[i].age; });
  std::erase(order, older);
  order.insert(std::ranges::find(order, younger), older);
  for (std::uint32_t age = 0; age < order.size(); ++age) segments[order[age]].age = age;
}

std::vector<Bytes> possible_alignments(const RecordedSettings& settings, const Trace& trace,
                                       Bytes padding) {
  const bool may_align =
      padding > 0 || !settings.present || settings.conf_variable == "PYTORCH_NPU_ALLOC_CONF";
  if (!settings.expandable_segments.value_or(false) || !may_align) return {0};
  if (settings.large_alignment) return {*settings.large_alignment};
  std::vector<Bytes> found = seen_alignments(trace);
  found.insert(padding > 0 ? found.end() : found.begin(), 0);
  return found;
}

}  // namespace memreplay

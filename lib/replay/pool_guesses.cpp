#include "replay/pool_guesses.hpp"

#include <algorithm>
#include <optional>

namespace memreplay {
namespace {

// The life of one plain segment: [from, to) in events.
struct SegmentLife {
  std::size_t from = 0;
  std::size_t to = 0;
  Address address = 0;
  Bytes size = 0;

  bool holds(Address at) const { return at >= address && at - address < size; }
  friend bool operator==(const SegmentLife&, const SegmentLife&) = default;
};

std::optional<SegmentLife> life_of(const Trace& trace, std::size_t event, Address address) {
  // The request behind a recorded segment_alloc is the event; the segment may begin just before it.
  for (std::size_t i = std::min(event + 1, trace.size()); i-- > 0;) {
    if (trace.ops[i] != Op::segment_alloc) continue;
    SegmentLife life{i, trace.size(), trace.addresses[i], trace.sizes[i]};
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

std::uint16_t lane_with(Trace& trace, Lane lane) {
  const auto found = std::ranges::find(trace.lanes, lane);
  if (found == trace.lanes.end()) trace.lanes.push_back(lane);
  return static_cast<std::uint16_t>(std::ranges::find(trace.lanes, lane) - trace.lanes.begin());
}

PoolGuess with_pool(const Trace& trace, const SegmentLife& life, PoolIndex pool) {
  PoolGuess guess{trace, pool};
  if (pool == guess.trace.pools.size()) {
    PoolId fresh = guess.trace.pools.back();
    ++fresh.second;
    guess.trace.pools.push_back(fresh);
  }
  for (std::size_t i = life.from; i < life.to; ++i) {
    if (trace.ops[i] == Op::oom || !life.holds(trace.addresses[i])) continue;
    guess.trace.lane_of[i] = lane_with(guess.trace, {trace.lane(i).stream, pool});
  }
  return guess;
}

}  // namespace

std::vector<PoolGuess> guess_pools(const Trace& recorded, const Trace& trace, std::size_t event,
                                   std::span<const Address> addresses) {
  std::vector<SegmentLife> lives;
  for (const Address address : addresses) {
    const auto life = life_of(trace, event, address);
    if (!life || recorded.lane(life->from).pool != 0) continue;
    if (std::ranges::find(lives, *life) == lives.end()) lives.push_back(*life);
  }
  std::vector<PoolGuess> guesses;
  for (const SegmentLife& life : lives) {
    for (PoolIndex pool = 0; pool <= trace.pools.size(); ++pool) {
      if (pool == trace.lane(life.from).pool) continue;
      guesses.push_back(with_pool(trace, life, pool));
    }
  }
  return guesses;
}

}  // namespace memreplay

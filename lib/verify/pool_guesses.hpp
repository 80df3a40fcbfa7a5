#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// One plain segment, from its segment_alloc to its segment_free, is taken for one of `pool`.
struct PoolGuess {
  std::size_t from = 0;  ///< [from, to) in events
  std::size_t to = 0;
  Address address = 0;
  Bytes size = 0;
  PoolIndex pool = 0;  ///< one above the pools of the trace: a new one

  bool holds(Address at) const { return at >= address && at - address < size; }
  friend bool operator==(const PoolGuess&, const PoolGuess&) = default;
};

/// Recordings of releases before 2.12 do not say to which pool a segment belongs that is gone at
/// their end. For each such segment that holds one of `addresses` at `event`: every other pool, and
/// a new one. `trace` is `recorded` after earlier guesses.
std::vector<PoolGuess> guess_pools(const Trace& recorded, const Trace& trace, std::size_t event,
                                   std::span<const Address> addresses);

/// The trace with the segment of the guess, and the requests that it served, in the pool guessed.
Trace with_guess(Trace trace, const PoolGuess& guess);

}  // namespace memreplay

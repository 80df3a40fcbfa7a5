#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "trace/trace.hpp"

namespace memreplay {

/// A trace in which one segment was given to another pool.
struct PoolGuess {
  Trace trace;
  PoolIndex pool = 0;
};

/// Recordings of releases before 2.12 do not say to which pool a segment belongs that is gone at
/// their end. For each such segment that holds one of `addresses` at `event`: `trace`, which is
/// `recorded` after earlier guesses, with that segment and its blocks in every other pool and in a
/// new one.
std::vector<PoolGuess> guess_pools(const Trace& recorded, const Trace& trace, std::size_t event,
                                   std::span<const Address> addresses);

}  // namespace memreplay

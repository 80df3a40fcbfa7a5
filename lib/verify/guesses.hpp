#pragma once

#include <cstddef>
#include <optional>
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

/// The segment of the start that holds `address`; unset where none does.
std::optional<std::size_t> start_segment_at(const Trace& trace, Address address);

/// In a pool whose blocks are never split, a plain segment is one block.
void keep_whole(std::vector<SegmentInfo>& segments, PoolIndex pool);

/// Puts one segment right before another in the order of age.
void set_older(std::vector<SegmentInfo>& segments, std::size_t older, std::size_t younger);

/// To which multiples large requests may have been moved, likeliest first: what torch_npu's
/// base_addr_aligned_kb can be. 0: to none. `padding` is what was added to each request.
std::vector<Bytes> possible_alignments(const RecordedSettings& settings, const Trace& trace,
                                       Bytes padding);

}  // namespace memreplay

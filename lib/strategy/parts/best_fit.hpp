#pragma once

#include "core/request.hpp"
#include "strategy/parts/free_blocks.hpp"

namespace memreplay {

/// A request as the search for a place sees it. The alignment is a power of two.
struct Wanted {
  Bytes size = 0;
  Bytes alignment = 1;

  /// Bytes from `from` to the first multiple of the alignment.
  Bytes lead(Address from) const { return -from & (alignment - 1); }
  bool fits(Address from, Bytes space) const { return size <= space && lead(from) <= space - size; }
};

/// The smallest block with room for it, the first of equals; ranks are addresses. O(1) to O(log n)
/// where alignment changes nothing.
inline Handle best_fit(const FreeBlocks& blocks, const Wanted& wanted) {
  for (auto at = blocks.lower_bound(wanted.size); !at.at_end(); at = blocks.next(at)) {
    if (wanted.fits(blocks[at].rank, blocks[at].size)) return blocks[at].block;
  }
  return kNoHandle;
}

}  // namespace memreplay

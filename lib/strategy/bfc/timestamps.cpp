#include <algorithm>
#include <utility>

#include "strategy/bfc/serving.hpp"

// Freed chunks may still be in use by what was queued on the device. They are not merged until the
// safe frontier has passed the count of their free, unless a request would fail otherwise.

namespace memreplay::bfc {

void Allocator::safe_frontier(std::uint64_t count) {
  safe_frontier_ = std::max(safe_frontier_, count);
}

// Takes the entries to be merged out of the queue; those of chunks that are gone or in use again
// are forgotten.
std::vector<Handle> Allocator::leave_queue(bool also_unsafe) {
  std::vector<Handle> to_merge;
  std::vector<Handle> staying;
  for (const Handle chunk : queue_) {
    Piece& piece = chunks_[chunk];
    if (piece.size == 0 || !piece.is_binned()) continue;
    const bool safe = piece.freed_at == 0 || piece.freed_at < safe_frontier_;
    if (safe) piece.freed_at = 0;
    (safe || also_unsafe ? to_merge : staying).push_back(chunk);
  }
  queue_ = std::move(staying);
  return to_merge;
}

void Allocator::merge_what_is_safe() {
  for (const Handle chunk : leave_queue(false)) {
    if (chunks_[chunk].size == 0) continue;  // merged with one before it
    remove<false>(chunk);
    retag(chunk);
    insert<false>(coalesce<false>(chunk, false));
  }
}

// True when a chunk of this size has come out of it.
bool Allocator::merge_for(Bytes size) {
  bool satisfied = false;
  for (const Handle chunk : leave_queue(true)) {
    if (satisfied) {
      queue_.push_back(chunk);
      continue;
    }
    if (chunks_[chunk].size == 0) continue;
    remove<false>(chunk);
    retag(chunk);
    const Handle merged = coalesce<false>(chunk, true);
    insert<false>(merged);
    if (merged != chunk && chunks_[merged].freed_at > 0) queue_.push_back(merged);
    satisfied = chunks_[merged].size >= size;
  }
  return satisfied;
}

}  // namespace memreplay::bfc

#pragma once

#include <algorithm>

#include "strategy/bfc/allocator.hpp"

/// The parts of a request and of a free that every way of playing shares.
namespace memreplay::bfc {

template <bool kPlain>
[[gnu::always_inline]] inline FreeBlock Allocator::key_of(Handle chunk) const {
  const Piece& piece = chunks_[chunk];
  const bool descending = !kPlain && policy(piece.tag).descending;
  return {piece.size, descending ? ~piece.address : piece.address, chunk};
}

[[gnu::always_inline]] inline void Allocator::hand_out(Piece& chunk, Bytes requested) {
  chunk.in_use = true;
  chunk.requested = requested;
  statistics_.bytes_in_use += chunk.size;
  // Seldom: so nothing is stored most of the time.
  if (statistics_.bytes_in_use > statistics_.peak_bytes_in_use) [[unlikely]]
    statistics_.peak_bytes_in_use = statistics_.bytes_in_use;
  if (chunk.size > statistics_.largest_alloc_size) [[unlikely]]
    statistics_.largest_alloc_size = chunk.size;
  ++statistics_.num_allocs;
}

template <bool kPlain>
[[gnu::always_inline]] inline void Allocator::insert(Handle chunk) {
  Piece& piece = chunks_[chunk];
  if (!kPlain && piece.tag == Tag::central_gap) {
    gap_ = chunk;
    return;
  }
  bins_[!kPlain && piece.tag == Tag::upper].insert(
      key_of<kPlain>(chunk),
      [this](Handle moved, FreeBlocks::Place place) { chunks_[moved].place = place; });
}

template <bool kPlain>
[[gnu::always_inline]] inline void Allocator::remove(Handle chunk) {
  Piece& piece = chunks_[chunk];
  if (!kPlain && piece.tag == Tag::central_gap) {
    gap_ = kNoHandle;
    return;
  }
  bins_[!kPlain && piece.tag == Tag::upper].erase(chunk, piece.place,
                                                  [&] { return key_of<kPlain>(chunk); });
}

template <bool kPlain>
[[gnu::always_inline]] inline bool Allocator::mergeable(Handle chunk, bool ignore_stamps) const {
  return chunk != kNoHandle && !chunks_[chunk].in_use &&
         (kPlain || ignore_stamps || chunks_[chunk].freed_at == 0);
}

template <bool kPlain>
[[gnu::always_inline]] inline Handle Allocator::coalesce(Handle chunk, bool ignore_stamps) {
  if (!kPlain && !mergeable<false>(chunk, ignore_stamps)) return chunk;
  const auto absorb = [&](Handle lower, Handle upper) {
    if constexpr (kPlain) return chunks_.absorb_above(lower);
    const std::uint64_t freed_at = std::max(chunks_[lower].freed_at, chunks_[upper].freed_at);
    if (chunks_[lower].tag != chunks_[upper].tag) chunks_[lower].tag = Tag::central_gap;
    chunks_.absorb_above(lower);
    chunks_[lower].freed_at = freed_at;
  };
  const Handle above = chunks_[chunk].above;
  if (mergeable<kPlain>(above, ignore_stamps)) {
    remove<kPlain>(above);
    absorb(chunk, above);
  }
  const Handle below = chunks_[chunk].below;
  if (!mergeable<kPlain>(below, ignore_stamps)) return chunk;
  remove<kPlain>(below);
  absorb(below, chunk);
  return below;
}

}  // namespace memreplay::bfc

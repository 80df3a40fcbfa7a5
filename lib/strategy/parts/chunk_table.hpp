#pragma once

#include <map>
#include <utility>
#include <vector>

#include "core/address_table.hpp"
#include "core/program.hpp"
#include "core/request.hpp"

namespace memreplay {

/// A piece of a region, linked with its neighbours there. Strategies derive from it what they keep
/// beside; a piece cut off inherits all of that.
struct Chunk {
  Address address = 0;
  Bytes size = 0;       ///< 0: the number is not in use
  Bytes requested = 0;  ///< a free chunk: what its number last served
  Handle below = kNoHandle;
  Handle above = kNoHandle;
  bool in_use = false;
};

/// Regions cut into chunks. A number that was released last is given out first. O(1) a call, but
/// for O(log regions) where a region comes or goes.
template <typename Piece = Chunk>
class ChunkTable {
 public:
  Piece& operator[](Handle chunk) { return chunks_[chunk]; }
  const Piece& operator[](Handle chunk) const { return chunks_[chunk]; }

  /// All of them, by number.
  const Piece* data() const { return chunks_.data(); }
  std::size_t count() const { return chunks_.size(); }
  /// Room that is not needed is never touched.
  void reserve(std::size_t count) { chunks_.reserve(count); }

  /// One free chunk over a new region.
  Handle add_region(Address address, Bytes size, Piece piece = {}) {
    const Handle chunk = take_number();
    piece.address = address;
    piece.size = size;
    piece.requested = chunks_[chunk].requested;
    piece.below = piece.above = kNoHandle;
    chunks_[chunk] = std::move(piece);
    regions_.emplace(address, chunk);
    return chunk;
  }
  /// Enlarges the region whose last chunk is `last` by a free chunk right after it.
  Handle append(Handle last, Bytes size, Piece piece = {}) {
    const Handle chunk = take_number();
    piece.address = chunks_[last].address + chunks_[last].size;
    piece.size = size;
    piece.requested = chunks_[chunk].requested;
    piece.below = last;
    piece.above = kNoHandle;
    chunks_[last].above = chunk;
    chunks_[chunk] = std::move(piece);
    return chunk;
  }
  /// Forgets a region of free chunks by its first one. O(chunks in it).
  void remove_region(Handle first) {
    regions_.erase(chunks_[first].address);
    for (Handle chunk = first; chunk != kNoHandle;) {
      const Handle above = chunks_[chunk].above;
      release_number(chunk);
      chunk = above;
    }
  }
  /// `chunk` keeps its low `size` bytes; the rest is a new chunk above it, which is not in use.
  Handle split(Handle chunk, Bytes size) {
    const Handle upper = take_number();
    Piece& lower = chunks_[chunk];
    Piece& rest = chunks_[upper];
    inherit(rest, lower);
    rest.address = lower.address + size;
    rest.size = lower.size - size;
    rest.below = chunk;
    rest.above = lower.above;
    rest.in_use = false;
    if (rest.above != kNoHandle) chunks_[rest.above].below = upper;
    lower.size = size;
    lower.above = upper;
    return upper;
  }
  /// `chunk` takes over the one above it.
  void absorb_above(Handle chunk) {
    const Handle upper = chunks_[chunk].above;
    chunks_[chunk].size += chunks_[upper].size;
    chunks_[chunk].above = chunks_[upper].above;
    if (chunks_[upper].above != kNoHandle) chunks_[chunks_[upper].above].below = chunk;
    release_number(upper);
  }
  /// `chunk`, which becomes free, takes in the neighbours for which `joins` is true; that takes
  /// them off their lists too. Returns the lowest, which survives.
  template <typename Joins>
  Handle join_neighbours(Handle chunk, const Joins& joins) {
    if (const Handle above = chunks_[chunk].above; above != kNoHandle && joins(above)) {
      absorb_above(chunk);
    }
    const Handle below = chunks_[chunk].below;
    if (below == kNoHandle || !joins(below)) return chunk;
    absorb_above(below);
    return below;
  }
  bool fills_region(Handle chunk) const {
    return chunks_[chunk].below == kNoHandle && chunks_[chunk].above == kNoHandle;
  }
  /// The first chunk of each region, by address.
  const std::map<Address, Handle>& regions() const { return regions_; }

  /// Every chunk, region by region, by address.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (const auto& [address, first] : regions_) {
      for (Handle chunk = first; chunk != kNoHandle; chunk = chunks_[chunk].above) visit(chunk);
    }
  }
  MemoryState memory_state() const {
    MemoryState state;
    for (const auto& [address, first] : regions_) {
      SegmentInfo region{.address = address, .blocks = {}};
      for (Handle at = first; at != kNoHandle; at = chunks_[at].above) {
        const Piece& chunk = chunks_[at];
        region.size += chunk.size;
        region.blocks.push_back({.address = chunk.address,
                                 .size = chunk.size,
                                 .requested = chunk.in_use ? chunk.requested : 0,
                                 .state = chunk.in_use ? BlockState::allocated : BlockState::free});
      }
      state.segments.push_back(std::move(region));
    }
    return state;
  }

 private:
  /// What strategies keep beside, and no more: a copy of the whole would wait for what was written
  /// in parts just before.
  static void inherit(Piece& rest, const Piece& lower) {
    if constexpr (requires { rest.inherit(lower); }) {
      rest.inherit(lower);
    } else {
      const Bytes last_served = rest.requested;
      rest = lower;
      rest.requested = last_served;
    }
  }
  Handle take_number() {
    if (unused_count_ == 0) [[unlikely]]
      add_number();
    return unused_[--unused_count_];
  }
  [[gnu::noinline]] void add_number() {
    unused_.resize(chunks_.size() + 1);
    unused_[unused_count_++] = static_cast<Handle>(chunks_.size());
    chunks_.emplace_back();
  }
  void release_number(Handle number) {
    chunks_[number].size = 0;
    chunks_[number].in_use = false;
    unused_[unused_count_++] = number;
  }

  TableOf<Piece> chunks_;
  std::vector<Handle> unused_;  ///< the first `unused_count_`; there is room for all numbers
  std::size_t unused_count_ = 0;
  std::map<Address, Handle> regions_;
};

}  // namespace memreplay

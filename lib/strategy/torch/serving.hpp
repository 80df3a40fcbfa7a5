#pragma once

#include <optional>

#include "core/units.hpp"
#include "strategy/torch/allocator.hpp"

/// The path of a request that finds a free block, and of a free, by the rules that it reckons with.
namespace memreplay::torch {

template <class Rules>
[[gnu::always_inline]] inline Service Allocator::serve(Bytes requested, Placement& placed) {
  if (requested >= kMostBytes) [[unlikely]]
    return Service::refused;
  Search search;
  search.stream = lane_.stream;
  search.size = round_up(requested, kMinBlockSize);
  if constexpr (Rules::kRounds || Rules::kForks) {
    search.size = round_size(requested + settings_.request_padding,
                             settings_.roundup_power2_divisions, !release_.has(1));
  }
  search.pool = search.size <= kSmallSize;
  if constexpr (Rules::kPrivatePools) search.pool = pool_of(lane_.pool, search.pool != 0);
  if constexpr (Rules::kExpandable) {
    search.expandable =
        settings_.expandable_segments && (lane_.pool == 0 || release_.has(kPoolsExpand));
  }
  const ShelfIndex shelf = lane_shelves_ + (search.size <= kSmallSize);
  const Handle block = get_free_block<Rules>(search, shelf);
  if (block == kNoHandle) [[unlikely]]
    return serve_from_device(search, requested, placed);
  if constexpr (Rules::kForks) leave_front_unaligned(block, search.size);
  placed = alloc_found_block<Rules>(block, search, requested, shelves_[shelf].free);
  return Service::at_once;
}

template <class Rules>
[[gnu::always_inline]] inline Handle Allocator::get_free_block(const Search& search,
                                                               ShelfIndex shelf) {
  if (Rules::kCollects && allowed_memory_maximum_ && settings_.garbage_collection_threshold > 0) {
    ++pools_[search.pool].searches;
  }
  FreeBlocks& free = shelves_[shelf].free;
  if constexpr (!Rules::kExpandable && !Rules::kLimits) {
    const Handle block = free.take(search.size);
    if (block != kNoHandle) max_split_size_.note_below(blocks_[block].size);
    return block;
  }
  FreeBlocks::Cursor at = free.find(search.size);
  if (at.at_end()) return kNoHandle;
  if (Rules::kExpandable && blocks_[at.block.block].expandable()) {
    at = search.expandable ? tightest_from(free, at) : plain_from(free, at);
    if (at.at_end()) return kNoHandle;
  }
  const bool fits = max_split_size_.above(search.size)
                        ? max_split_size_.above(at.block.size)
                        : max_non_split_rounding_size_.above(at.block.size - search.size);
  if (!fits) return kNoHandle;
  free.erase(at);
  return at.block.block;
}

template <class Rules>
inline bool Allocator::should_split(const Block& block, const Search& search) const {
  const bool small = is_small(search.pool);
  if constexpr (Rules::kPrivatePools) {
    const PoolIndex owner = pools_[search.pool].owner;
    if (owner != 0 && owner < pool_options_.size() && pool_options_[owner].no_split) return false;
  }
  const Bytes rest = block.size - search.size;
  if constexpr (Rules::kExpandable) {
    const bool expandable =
        search.expandable || (settings_.expandable_segments && !release_.has(kPoolsExpand));
    if (expandable) return rest >= kMinBlockSize;
  }
  const Bytes least = small ? kMinBlockSize : kSmallSize + 1;
  return rest >= least && (!Rules::kLimits || small || max_split_size_.above(search.size));
}

// The front becomes a new block; the old object stays as the rest and keeps its number.
template <class Rules>
[[gnu::always_inline]] inline Handle Allocator::split_front(Handle rest, Bytes size) {
  const Handle handle = take_handle();
  Block& front = blocks_[handle];
  Block& back = blocks_[rest];
  // Field by field: a copy of the whole would wait for what was written in parts just before.
  const Address address = back.address;
  const std::uint64_t rank = back.rank;
  const std::uint32_t reservation = back.reservation;
  const std::uint32_t shelf = back.shelf;
  const bool mapped = back.mapped;
  const std::uint64_t since = back.since;
  front.address = address;
  front.size = size;
  front.rank = rank;
  front.since = since;
  front.prev = back.prev;
  front.next = rest;
  front.reservation = reservation;
  front.shelf = shelf;
  front.state = BlockState::free;
  front.mapped = mapped;
  front.completed_early = false;
  if (Rules::kAnyRanks) front.rank = rank_of_new(front);
  blocks_[front.prev].next = handle;
  back.prev = handle;
  back.address += size;
  back.size -= size;
  back.rank = Rules::kAnyRanks ? rank_behind(back.rank, size) : back.rank + size / kMinBlockSize;
  return handle;
}

template <class Rules>
[[gnu::always_inline]] inline Placement Allocator::alloc_found_block(Handle handle,
                                                                     const Search& search,
                                                                     Bytes requested,
                                                                     FreeBlocks& free) {
  const bool small = is_small(search.pool);
  const bool was_split = blocks_[handle].is_split();
  const bool counts_as_split = !Rules::kExpandable || !blocks_[handle].expandable();
  if (should_split<Rules>(blocks_[handle], search)) {
    const Handle rest = handle;
    handle = split_front<Rules>(rest, search.size);
    insert_rest<Rules>(rest, free);
    if (counts_as_split && was_split) {
      statistics_.inactive_split_bytes.decrease(small, search.size);
    } else if (counts_as_split) {
      statistics_.inactive_split_bytes.increase(small, blocks_[rest].size);
      statistics_.inactive_split.increase(small, 1);
    }
  } else if (counts_as_split && was_split) {
    statistics_.inactive_split_bytes.decrease(small, blocks_[handle].size);
    statistics_.inactive_split.decrease(small, 1);
  }
  Block& block = blocks_[handle];
  block.state = BlockState::allocated;
  block.requested = requested;
  statistics_.take_block(small, block.size);
  statistics_.requested_bytes.increase(small, requested);
  if (Rules::kLimits && block.size >= settings_.max_split_size) {
    statistics_.oversize_allocations.increase(1);
  }
  return {block.address, block.size, handle};
}

template <class Rules>
[[gnu::always_inline]] inline void Allocator::take_back(Handle handle) {
  const Block& block = blocks_[handle];
  statistics_.give_block(is_small(block), block.size);
  if constexpr (Rules::kLimits) count_oversize_free(block);
  free_block<Rules>(handle);
}

template <class Rules>
[[gnu::always_inline]] inline void Allocator::free_block(Handle handle) {
  Block& block = blocks_[handle];
  FreeBlocks& free = free_set(block);
  const bool small = is_small(block);
  block.state = BlockState::free;
  const Bytes own = block.size;
  // How the number and bytes of free pieces change, as one net change each.
  std::int64_t pieces = 1;
  if (try_merge<Rules, Side::before>(handle, free)) --pieces;
  if (try_merge<Rules, Side::behind>(handle, free)) --pieces;
  insert_free<Rules>(handle, free);
  if (!Rules::kExpandable || !block.expandable()) {
    if (block.is_split()) [[likely]] {
      statistics_.inactive_split_bytes.increase(small, own);
      if (pieces != 0) statistics_.inactive_split.change(small, pieces);
    } else if (pieces != 1) {
      statistics_.inactive_split_bytes.decrease(small, block.size - own);
      statistics_.inactive_split.decrease(small, static_cast<Bytes>(1 - pieces));
    }
  }
  statistics_.requested_bytes.decrease(small, block.requested);
}

template <class Rules, Allocator::Side kSide>
[[gnu::always_inline]] inline bool Allocator::try_merge(Handle into, FreeBlocks& free) {
  Block& dst = blocks_[into];
  const Handle from = kSide == Side::before ? dst.prev : dst.next;
  const Block& src = blocks_[from];
  if (src.state != BlockState::free) return false;
  if (Rules::kExpandable && src.mapped != dst.mapped) return false;
  if (!Rules::kExpandable || src.mapped) {
    erase_free(from, free);
  } else {
    unmapped_set(src).erase({src.address, from});
  }
  if constexpr (kSide == Side::before) {
    dst.address = src.address;
    if (!Rules::kAnyRanks || tie_break_ != Release::TieBreak::object_number) dst.rank = src.rank;
    dst.prev = src.prev;
    blocks_[dst.prev].next = into;
  } else {
    dst.next = src.next;
    blocks_[dst.next].prev = into;
  }
  dst.size += src.size;
  drop_block(from);
  return true;
}

template <class Rules>
[[gnu::always_inline]] inline void Allocator::insert_free(Handle handle, FreeBlocks& free) {
  largest_.note(blocks_[handle].shelf, blocks_[handle].size);
  insert_rest<Rules>(handle, free);
}

// Its shelf had one that was larger.
template <class Rules>
[[gnu::always_inline]] inline void Allocator::insert_rest(Handle handle, FreeBlocks& free) {
  Block& block = blocks_[handle];
  if (Rules::kCollects) block.since = pool_of(block).searches;
  free.insert({block.size, block.rank, handle},
              [this](Handle moved, FreeBlocks::Place place) { blocks_[moved].place = place; });
}

}  // namespace memreplay::torch

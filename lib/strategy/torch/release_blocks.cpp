#include <vector>

#include "core/units.hpp"
#include "strategy/torch/allocator.hpp"

namespace memreplay::torch {

// Frees old whole blocks of the default large pool until the limit's share is met.
void Allocator::garbage_collect_cached_blocks() {
  const Bytes threshold = bytes_of(settings_.garbage_collection_threshold *
                                   static_cast<double>(*allowed_memory_maximum_));
  if (total_allocated_memory_ <= threshold) return;
  for (const Handle block : blocks_to_collect(total_allocated_memory_ - threshold)) {
    release_block(block);
  }
}

// By rounds: each takes the blocks that are at least as old as the average of those still there,
// and is not cut short when the target is reached.
std::vector<Handle> Allocator::blocks_to_collect(Bytes target) const {
  std::vector<Handle> chosen;
  const BlockPool& pool = pools_.front();
  const auto age = [&](Handle handle) {
    return static_cast<int>(pool.searches - blocks_[handle].since);
  };
  double total_age = 0;
  std::vector<Handle> candidates;
  for_each_shelf(pool, [&](const FreeBlocks& free) {
    free.for_each([&](const FreeBlock& candidate) {
      if (blocks_[candidate.block].is_split()) return;
      total_age += age(candidate.block);
      candidates.push_back(candidate.block);
    });
  });
  // Expandable blocks count for the average but are never freed here.
  std::size_t count = candidates.size();
  std::erase_if(candidates, [&](Handle handle) { return blocks_[handle].expandable(); });
  Bytes reclaimed = 0;
  bool freed_some = true;
  while (reclaimed < target && freed_some && count > 0) {
    const double average = total_age / static_cast<double>(count);
    const std::size_t before = count;
    std::erase_if(candidates, [&](Handle handle) {
      if (age(handle) < average) return false;
      reclaimed += blocks_[handle].size;
      total_age -= age(handle);
      --count;
      chosen.push_back(handle);
      return true;
    });
    freed_some = count < before;
  }
  return chosen;
}

std::vector<Bytes> Allocator::collectable(Bytes target) const {
  std::vector<Bytes> sizes;
  for (const Handle handle : blocks_to_collect(target)) sizes.push_back(blocks_[handle].size);
  return sizes;
}

// Second stage: whole blocks above max_split_size that make room for this request.
bool Allocator::release_available_cached_blocks(const Search& search) {
  const ShelfIndex shelf = shelf_of(search.pool, search.stream);
  if (shelf == kNoShelf) return false;
  const FreeBlocks& free = shelves_[shelf].free;
  if (max_split_size_.above(free.largest())) return false;
  const bool wants_limit = max_split_size_.above(search.size);
  const Bytes wanted = wants_limit ? max_split_size_.value() : search.size;
  // Blocks above the limit are never split, unless another limit held when a recording began.
  const auto is_piece = [&](const FreeBlock& candidate) {
    const Block& block = blocks_[candidate.block];
    return block.is_split() && !block.expandable();
  };
  auto at = free.lower_bound(wanted);
  if (wants_limit) {
    if (const auto below = free.previous(at); !below.at_end()) {
      max_split_size_.above(free[below].size);
    }
  }
  while (!at.at_end() && is_piece(free[at])) at = free.next(at);
  if (!at.at_end()) max_split_size_.above(free[at].size);
  if (!at.at_end() && !blocks_[free[at].block].expandable()) {
    release_block(free[at].block);
    return true;
  }
  std::vector<Handle> chosen;
  Bytes released = 0;
  const auto enough = [&] {
    return wants_limit ? !max_split_size_.above(released) : released >= wanted;
  };
  for (at = free.previous(at); !at.at_end() && !enough(); at = free.previous(at)) {
    if (max_split_size_.above(free[at].size)) break;
    if (is_piece(free[at]) || blocks_[free[at].block].expandable()) continue;
    released += free[at].size;
    chosen.push_back(free[at].block);
  }
  for (const Handle block : chosen) release_block(block);
  return enough();
}

void Allocator::release_cached_blocks() {
  synchronize_and_free_events();
  release_blocks(pools_[pool_of(0, false)]);
  release_blocks(pools_[pool_of(0, true)]);
  for (const PoolIndex pool : freeable_.pools()) release_private_pool(pool);
}

// The other way round than the default pools: small, then large. A pool without memory is gone; its
// id may come again.
void Allocator::release_private_pool(PoolIndex pool) {
  release_blocks(pools_[pool_of(pool, true)]);
  release_blocks(pools_[pool_of(pool, false)]);
  if (statistics_.reserved_by_pool[pool].current() != 0) return;
  pools_[pool_of(pool, false)].freeable = false;
  freeable_.erase(pool);
}

void Allocator::empty_cache() { release_cached_blocks(); }

// From now on releases include it. The end of a MemPool empties its own cache too.
void Allocator::release_pool(PoolIndex pool, PoolCache cache) {
  bool& freeable = pools_[pool_of(pool, false)].freeable;
  if (!freeable) freeable_.insert(pool, id_of(pool));
  freeable = true;
  use_on_oom_.erase(pool);
  if (cache == PoolCache::kept) return;
  synchronize_and_free_events(pool);
  release_private_pool(pool);
}

void Allocator::synchronize_and_free_events(std::optional<PoolIndex> pool) {
  ++statistics_.num_sync_all_streams;
  for (auto it = pending_.begin(); it != pending_.end();) {
    const Handle handle = it->second;
    if (pool && pool_of(blocks_[handle]).owner != *pool) {
      ++it;
      continue;
    }
    it = pending_.erase(it);
    // A block that the trace completes later keeps its handle until then; the memory gets another.
    const Handle now = take_handle();
    const Block& block = blocks_[now] = blocks_[handle];
    blocks_[block.prev].next = now;
    blocks_[block.next].prev = now;
    blocks_[handle].completed_early = true;
    complete(now);
  }
}

void Allocator::release_blocks(BlockPool& pool) {
  std::vector<Handle> to_release;
  std::vector<Handle> to_unmap;
  for_each_shelf(pool, [&](const FreeBlocks& free) {
    free.for_each([&](const FreeBlock& candidate) {
      const Block& block = blocks_[candidate.block];
      if (block.expandable()) {
        to_unmap.push_back(candidate.block);
      } else if (!block.is_split()) {
        to_release.push_back(candidate.block);
      }
    });
  });
  for (const Handle handle : to_release) release_block(handle);
  for (const Handle handle : to_unmap) {
    unmap_block(handle);
    if (!blocks_[handle].is_split() && !blocks_[handle].mapped) destroy_reservation(handle);
  }
}

void Allocator::release_block(Handle handle) {
  const Block block = blocks_[handle];
  erase_free(handle, free_set(block));
  device_->give_back(block.address);
  statistics_.segment.decrease(is_small(block), 1);
  count_reserved(block, block.size, false);
  if (block.size >= settings_.max_split_size) statistics_.oversize_segments.decrease(1);
  drop_block(handle);
}

}  // namespace memreplay::torch

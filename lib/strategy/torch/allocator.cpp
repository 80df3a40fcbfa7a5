#include "strategy/torch/allocator.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "core/limits.hpp"

namespace memreplay::torch {
namespace {

constexpr int kPoolsExpand = 5;  // before 2.5 private pools had plain segments only

}  // namespace

Allocator::Allocator(DeviceModel& device, const Settings& settings, const Release& release,
                     std::vector<PoolId> pools, std::vector<PoolOptions> pool_options)
    : StrategyOn(device),
      settings_(settings),
      max_split_size_(settings.max_split_size),
      max_non_split_rounding_size_(settings.max_non_split_rounding_size),
      release_(release),
      tie_break_(release.tie_break()),
      allowed_memory_maximum_(memory_limit(settings, [&] { return device.total_bytes(); })),
      pool_ids_(std::move(pools)),
      pool_options_(std::move(pool_options)) {
  pool_options_.resize(std::max(pool_ids_.size(), pool_options_.size()));
}

void Allocator::change_settings(const Settings& settings) {
  settings_ = settings;
  max_split_size_ = WatchedLimit(settings.max_split_size);
  max_non_split_rounding_size_ = WatchedLimit(settings.max_non_split_rounding_size);
}

std::optional<Placement> Allocator::allocate(const Request& request) {
  if (request.size >= kMostBytes) return std::nullopt;
  Search search;
  search.size = round_size(request.size + settings_.request_padding,
                           settings_.roundup_power2_divisions, !release_.has(1));
  search.alloc_size = get_allocation_size(search.size, settings_.large_segment_size);
  search.stream = request.stream;
  search.pool = pool_of(request.pool, search.size <= kSmallSize);
  search.expandable =
      settings_.expandable_segments && (request.pool == 0 || release_.has(kPoolsExpand));

  Handle block = get_free_block(search);
  if (block == kNoHandle) {
    Attempt outcome = Attempt::refused;
    block = obtain_block(search, outcome);
    if (outcome != Attempt::served) {
      statistics_.num_ooms += outcome == Attempt::refused;
      return std::nullopt;
    }
  }
  leave_front_unaligned(block, search.size);
  return alloc_found_block(block, search, request.size);
}

// What malloc tries, in its order, when no free block fits. The pool is not searched again after
// memory was released.
Handle Allocator::obtain_block(Search& search, Attempt& outcome) {
  constexpr int kLendsFirst = 11;  // before: only when nothing else helped
  Handle found = kNoHandle;
  const auto borrow = [&] {
    if (outcome != Attempt::refused) return;
    found = try_mempool_fallback(search);
    if (found != kNoHandle) outcome = Attempt::served;
  };
  if (allowed_memory_maximum_ && settings_.garbage_collection_threshold > 0) {
    garbage_collect_cached_blocks();
  }
  outcome = alloc_block(search, false, found);
  if (release_.has(kLendsFirst)) borrow();
  if (outcome == Attempt::refused && release_available_cached_blocks(search)) {
    outcome = alloc_block(search, false, found);
  }
  if (outcome == Attempt::refused && !captures(search)) {
    release_cached_blocks();
    outcome = alloc_block(search, true, found);
  }
  if (!release_.has(kLendsFirst)) borrow();
  return found;
}

// A request inside a graph's pool is made while its stream is captured; up to 2.12 any redirection
// to a private pool counts as a capture.
bool Allocator::captures(const Search& search) const {
  const PoolIndex owner = pools_[search.pool].owner;
  if (owner == 0) return false;
  return !release_.has(13) || (owner < pool_options_.size() && pool_options_[owner].of_a_graph);
}

// The request goes on with the pool that lends a block.
Handle Allocator::try_mempool_fallback(Search& search) {
  if (pools_[search.pool].owner != 0) return kNoHandle;
  for (PoolIndex owner = 1; owner < pool_options_.size(); ++owner) {
    if (!pool_options_[owner].use_on_oom || pools_[pool_of(owner, false)].freeable) continue;
    Search lender = search;
    lender.pool = pool_of(owner, pools_[search.pool].small);
    lender.expandable = false;
    const Handle found = get_free_block(lender);
    if (found == kNoHandle) continue;
    search = lender;
    return found;
  }
  return kNoHandle;
}

Handle Allocator::get_free_block(const Search& search) {
  BlockPool& pool = pools_[search.pool];
  if (allowed_memory_maximum_ && settings_.garbage_collection_threshold > 0) ++pool.searches;
  if (pool.free.size() <= search.stream) return kNoHandle;
  FreeBlocks& free = pool.free[search.stream];
  FreeBlocks::Cursor at = free.lower_bound(search.size);
  if (at.at_end()) return kNoHandle;
  FreeBlock found = free[at];
  if (blocks_[found.block].expandable()) {
    if (search.expandable) {
      // A slightly larger hole inside is better than the tail that can still grow.
      const auto extent = [&](const FreeBlock& candidate) {
        return candidate.size + unmapped_behind(candidate.block);
      };
      for (auto next = free.next(at); blocks_[found.block].expandable() && !next.at_end() &&
                                      extent(free[next]) < extent(found);
           next = free.next(next)) {
        at = next;
        found = free[at];
      }
    } else {
      do {
        at = free.next(at);
        if (at.at_end()) return kNoHandle;
        found = free[at];
      } while (blocks_[found.block].expandable());
    }
  }
  const bool fits = max_split_size_.above(search.size)
                        ? max_split_size_.above(found.size)
                        : max_non_split_rounding_size_.above(found.size - search.size);
  if (!fits) return kNoHandle;
  free.erase(at);
  return found.block;
}

bool Allocator::over_limit(const Search& search) const {
  return allowed_memory_maximum_ &&
         total_allocated_memory_ + search.alloc_size > *allowed_memory_maximum_;
}

Allocator::Attempt Allocator::alloc_block(const Search& search, bool is_retry, Handle& found) {
  statistics_.num_alloc_retries += is_retry;
  if (over_limit(search)) return Attempt::refused;
  if (settings_.throw_on_cudamalloc_oom) {
    const double allowed =
        settings_.per_process_memory_fraction * static_cast<double>(device_->total_bytes());
    if (total_allocated_memory_ + search.alloc_size > static_cast<Bytes>(allowed)) {
      ++statistics_.num_oom_rejections;
      return Attempt::rejected;
    }
  }
  if (search.expandable) {
    found = try_allocate_expandable(search);
    return found == kNoHandle ? Attempt::refused : Attempt::served;
  }
  const auto address = device_->obtain(search.alloc_size);
  if (!address) return Attempt::refused;
  Block block{
      .address = *address, .size = search.alloc_size, .stream = search.stream, .pool = search.pool};
  block.rank = first_rank(*address);
  found = new_block(block);
  statistics_.segment.increase(pools_[search.pool].small, 1);
  count_reserved(blocks_[found], search.alloc_size, true);
  if (search.alloc_size >= settings_.max_split_size) statistics_.oversize_segments.increase(1);
  return Attempt::served;
}

bool Allocator::should_split(const Block& block, const Search& search) const {
  const PoolIndex owner = pools_[search.pool].owner;
  if (owner != 0 && owner < pool_options_.size() && pool_options_[owner].no_split) return false;
  const Bytes rest = block.size - search.size;
  const bool expandable =
      search.expandable || (settings_.expandable_segments && !release_.has(kPoolsExpand));
  if (pools_[search.pool].small || expandable) return rest >= kMinBlockSize;
  return rest > kSmallSize && max_split_size_.above(search.size);
}

// The front becomes a new block; the old object stays as the rest and keeps its number.
Handle Allocator::split_front(Handle rest, Bytes size) {
  Block front = blocks_[rest];
  front.size = size;
  front.next = rest;
  const Handle handle = new_block(front);
  if (front.prev != kNoHandle) blocks_[front.prev].next = handle;
  blocks_[rest].prev = handle;
  blocks_[rest].address += size;
  blocks_[rest].size -= size;
  blocks_[rest].rank = rank_behind(blocks_[rest].rank, size);
  return handle;
}

// Of torch_npu (base_addr_aligned_kb): what lies in front of an aligned address stays free, where
// the request still fits behind it.
void Allocator::leave_front_unaligned(Handle block, Bytes size) {
  const Bytes alignment = settings_.large_alignment;
  if (alignment == 0 || !settings_.expandable_segments || size < kRoundLarge) return;
  const Bytes front = round_up(blocks_[block].address, alignment) - blocks_[block].address;
  if (front == 0 || front + size > blocks_[block].size) return;
  insert_free(split_front(block, front));
}

Placement Allocator::alloc_found_block(Handle handle, const Search& search, Bytes requested) {
  const bool small = pools_[search.pool].small;
  const bool was_split = blocks_[handle].is_split();
  const bool counts_as_split = !blocks_[handle].expandable();
  if (should_split(blocks_[handle], search)) {
    const Handle rest = handle;
    handle = split_front(rest, search.size);
    insert_free(rest);
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
  block.allocated = true;
  block.requested = requested;
  statistics_.allocation.increase(small, 1);
  statistics_.allocated_bytes.increase(small, block.size);
  statistics_.active.increase(small, 1);
  statistics_.active_bytes.increase(small, block.size);
  statistics_.requested_bytes.increase(small, requested);
  if (block.size >= settings_.max_split_size) statistics_.oversize_allocations.increase(1);
  return {block.address, block.size, handle};
}

void Allocator::free(Handle block, Giver) {
  give_up(block);
  free_block(block);
}

void Allocator::request_free(Handle handle) {
  give_up(handle);
  Block& block = blocks_[handle];
  block.pending = true;
  block.since = next_pending_++;
  pending_.emplace_hint(pending_.end(), block.since, handle);
}

void Allocator::give_up(Handle handle) {
  Block& block = blocks_[handle];
  const bool small = pools_[block.pool].small;
  block.allocated = false;
  statistics_.allocation.decrease(small, 1);
  statistics_.allocated_bytes.decrease(small, block.size);
  if (block.size >= settings_.max_split_size) statistics_.oversize_allocations.decrease(1);
}

void Allocator::complete_free(Handle handle) {
  if (blocks_[handle].completed_early) return drop_block(handle);
  pending_.erase(blocks_[handle].since);
  free_block(handle);
}

void Allocator::free_block(Handle handle) {
  Block& block = blocks_[handle];
  const bool small = pools_[block.pool].small;
  const Bytes size = block.size;
  block.pending = false;
  // How the number and bytes of free pieces change, as one net change each.
  std::int64_t pieces = 0;
  std::int64_t piece_bytes = 0;
  for (const Handle neighbour : {block.prev, block.next}) {
    if (const Bytes merged = try_merge(handle, neighbour)) {
      --pieces;
      piece_bytes -= static_cast<std::int64_t>(merged);
    }
  }
  insert_free(handle);
  if (block.is_split()) {
    ++pieces;
    piece_bytes += static_cast<std::int64_t>(block.size);
  }
  if (!block.expandable()) {
    const auto change = [small](StatArray& stat, std::int64_t by) {
      if (by > 0) stat.increase(small, static_cast<Bytes>(by));
      if (by < 0) stat.decrease(small, static_cast<Bytes>(-by));
    };
    change(statistics_.inactive_split, pieces);
    change(statistics_.inactive_split_bytes, piece_bytes);
  }
  statistics_.active.decrease(small, 1);
  statistics_.active_bytes.decrease(small, size);
  statistics_.requested_bytes.decrease(small, block.requested);
}

Bytes Allocator::try_merge(Handle into, Handle from) {
  if (from == kNoHandle) return 0;
  Block& dst = blocks_[into];
  const Block src = blocks_[from];
  if (src.allocated || src.pending || src.mapped != dst.mapped) return 0;
  if (src.mapped) {
    erase_free(from);
  } else {
    unmapped_set(src).erase({src.address, from});
  }
  if (dst.prev == from) {
    dst.address = src.address;
    if (tie_break_ != Release::TieBreak::object_number) dst.rank = src.rank;
    dst.prev = src.prev;
    if (dst.prev != kNoHandle) blocks_[dst.prev].next = into;
  } else {
    dst.next = src.next;
    if (dst.next != kNoHandle) blocks_[dst.next].prev = into;
  }
  dst.size += src.size;
  drop_block(from);
  return src.size;
}

std::unique_ptr<Allocator> make_allocator(const Settings& settings, const Release& release,
                                          const StrategyContext& context) {
  if (settings.backend != "native") {
    throw UsageError("backend:" + settings.backend +
                     " leaves placement to the driver, which this model does not cover");
  }
  if (settings.expandable_segments && context.device.virtual_memory() == nullptr) {
    throw UsageError("expandable_segments needs a device with virtual memory");
  }
  return std::make_unique<Allocator>(
      context.device, settings, release, std::vector(context.pools.begin(), context.pools.end()),
      std::vector(context.pool_options.begin(), context.pool_options.end()));
}

}  // namespace memreplay::torch

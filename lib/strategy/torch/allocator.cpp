#include "strategy/torch/allocator.hpp"

#include <algorithm>

#include "core/error.hpp"
#include "strategy/torch/serving.hpp"

namespace memreplay::torch {
namespace {

/// Pools for whose shelves there is room from the beginning.
constexpr std::size_t kPoolsExpected = 4096;

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
  for (PoolIndex pool = 1; pool < pool_options_.size(); ++pool) {
    if (pool_options_[pool].use_on_oom) use_on_oom_.insert(pool, id_of(pool));
  }
  blocks_.push_back({.state = BlockState::allocated});
  unused_.resize(blocks_.size());
  add_pools(0);
  shelves_.reserve(2 + 2 * std::min(pool_ids_.size(), kPoolsExpected));
  shelves_.resize(2);
}

void Allocator::change_settings(const Settings& settings) {
  settings_ = settings;
  max_split_size_ = WatchedLimit(settings.max_split_size);
  max_non_split_rounding_size_ = WatchedLimit(settings.max_non_split_rounding_size);
}

std::optional<Placement> Allocator::allocate(const Request& request) {
  Placement placed;
  const StreamPool lane{request.stream, request.pool};
  if (serve_by_all_rules(request.size, lane, placed) == Service::refused) return std::nullopt;
  return placed;
}

Service Allocator::serve_by_all_rules(Bytes size, StreamPool lane, Placement& placed) {
  if (lane != lane_) turn_to(lane);
  return serve<AllRules>(size, placed);
}

Service Allocator::serve_from_device(Search search, Bytes requested, Placement& placed) {
  Attempt outcome = Attempt::refused;
  const Handle block = obtain_block(search, outcome);
  if (outcome != Attempt::served) {
    statistics_.num_ooms += outcome == Attempt::refused;
    return Service::refused;
  }
  largest_.note(blocks_[block].shelf, blocks_[block].size);
  leave_front_unaligned(block, search.size);
  placed = alloc_found_block<AllRules>(block, search, requested, free_set(blocks_[block]));
  return Service::served;
}

// What malloc tries, in its order, when no free block fits. The pool is not searched again after
// memory was released.
Handle Allocator::obtain_block(Search& search, Attempt& outcome) {
  constexpr int kLendsFirst = 11;  // before: only when nothing else helped
  Handle found = kNoBlock;
  const auto borrow = [&] {
    if (outcome != Attempt::refused) return;
    found = try_mempool_fallback(search);
    if (found != kNoBlock) outcome = Attempt::served;
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
  if (pools_[search.pool].owner != 0) return kNoBlock;
  for (const PoolIndex owner : use_on_oom_.pools()) {
    Search lender = search;
    lender.pool = pool_of(owner, is_small(search.pool));
    lender.expandable = false;
    const Handle found = get_free_block<AllRules>(lender, shelf_of(lender.pool, lender.stream));
    if (found == kNoHandle) continue;
    search = lender;
    return found;
  }
  return kNoBlock;
}

bool Allocator::over_limit(Bytes more) const {
  return allowed_memory_maximum_ && total_allocated_memory_ + more > *allowed_memory_maximum_;
}

Allocator::Attempt Allocator::alloc_block(const Search& search, bool is_retry, Handle& found) {
  statistics_.num_alloc_retries += is_retry;
  needed_large_segments_ |= search.size > kSmallSize && search.size < kMinLargeAlloc;
  const Bytes size = allocation_size(search);
  if (over_limit(size)) return Attempt::refused;
  if (settings_.throw_on_cudamalloc_oom) {
    const double allowed =
        settings_.per_process_memory_fraction * static_cast<double>(device_->total_bytes());
    if (total_allocated_memory_ + size > static_cast<Bytes>(allowed)) {
      ++statistics_.num_oom_rejections;
      return Attempt::rejected;
    }
  }
  if (search.expandable) {
    found = try_allocate_expandable(search);
    return found == kNoBlock ? Attempt::refused : Attempt::served;
  }
  const auto address = device_->obtain(size);
  if (!address) return Attempt::refused;
  Block block{.address = *address,
              .size = size,
              .rank = first_rank(*address),
              .shelf = open_shelf(search.pool, search.stream)};
  block.rank = rank_of_new(block);
  found = new_block(block);
  statistics_.segment.increase(is_small(search.pool), 1);
  count_reserved(blocks_[found], size, true);
  if (size >= settings_.max_split_size) statistics_.oversize_segments.increase(1);
  return Attempt::served;
}

// torch_npu's base_addr_aligned_kb: what lies in front of an aligned address stays free, where the
// request still fits after it.
void Allocator::leave_front_unaligned(Handle block, Bytes size) {
  const Bytes alignment = settings_.large_alignment;
  if (alignment == 0 || !settings_.expandable_segments || size < kRoundLarge) return;
  const Bytes front = round_up(blocks_[block].address, alignment) - blocks_[block].address;
  if (front == 0 || front + size > blocks_[block].size) return;
  insert_free<AllRules>(split_front<AllRules>(block, front), free_set(blocks_[block]));
}

void Allocator::count_oversize_free(const Block& block) {
  if (block.size >= settings_.max_split_size) statistics_.oversize_allocations.decrease(1);
}

void Allocator::free(Handle block, FreeOrigin) { take_back<AllRules>(block); }

void Allocator::request_free(Handle handle) {
  Block& block = blocks_[handle];
  statistics_.give_block_later(is_small(block), block.size);
  count_oversize_free(block);
  block.state = BlockState::pending;
  block.since = next_pending_++;
  pending_.emplace_hint(pending_.end(), block.since, handle);
}

void Allocator::complete_free(Handle handle) {
  if (blocks_[handle].completed_early) return drop_block(handle);
  pending_.erase(blocks_[handle].since);
  complete(handle);
}

// No stream uses the pending block any more.
void Allocator::complete(Handle handle) {
  const Block& block = blocks_[handle];
  statistics_.complete_block(is_small(block), block.size);
  free_block<AllRules>(handle);
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

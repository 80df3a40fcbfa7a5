#include <algorithm>
#include <map>
#include <stdexcept>

#include "strategy/torch/allocator.hpp"

namespace memreplay::torch {

void Allocator::add_handle() {
  drop_block(static_cast<Handle>(blocks_.size()));
  blocks_.emplace_back();
  unused_.resize(blocks_.size());
}

Handle Allocator::new_block(const Block& block) {
  const Handle handle = take_handle();
  blocks_[handle] = block;
  return handle;
}

namespace {

/// kNoShelf, its twin, and the two shelves of the first lane: most programs have no other.
constexpr std::size_t kShelvesWithTables = 4;

// A rank by segment: its number, then the distance from its start in units of 512 bytes.
constexpr int kDistanceBits = 34;
constexpr std::uint64_t kMostSegments = std::uint64_t{1} << (64 - kDistanceBits);

}  // namespace

std::uint64_t Allocator::first_rank(Address segment) {
  if (tie_break_ != Release::TieBreak::segment_number) return segment;
  if (next_number_ == kMostSegments) throw std::length_error("more than 2^30 segments were made");
  return next_number_++ << kDistanceBits;
}

// The rank of the byte that is `distance` above the one with this `rank`, in the same segment.
std::uint64_t Allocator::rank_behind(std::uint64_t rank, Bytes distance) const {
  switch (tie_break_) {
    case Release::TieBreak::address:
      return rank + distance;
    case Release::TieBreak::segment_number:
      return rank + distance / kMinBlockSize;
    default:
      return rank;
  }
}

void Allocator::add_pools(PoolIndex up_to) {
  while (pools_.size() < (std::size_t{up_to} + 1) * 2) {
    pools_.push_back({.owner = static_cast<PoolIndex>(pools_.size() / 2)});
  }
  statistics_.reserved_by_pool.resize(pools_.size() / 2);
}

void Allocator::turn_to(StreamPool lane) {
  lane_ = lane;
  lane_shelves_ = shelf_of(pool_of(lane.pool, false), lane.stream);
}

// For the first segment of a pool and stream: room for its blocks. Those of the other size come
// with it, so that the number of a shelf tells which it is.
Allocator::ShelfIndex Allocator::open_shelf(std::uint16_t pool, StreamIndex stream) {
  if (const ShelfIndex open = shelf_of(pool, stream); open != kNoShelf) return open;
  const std::uint16_t large = pool - is_small(pool);
  for (const std::uint16_t of : {large, static_cast<std::uint16_t>(large + 1)}) {
    std::vector<ShelfIndex>& shelves = pools_[of].shelves;
    if (shelves.size() <= stream) shelves.resize(std::size_t{stream} + 1, kNoShelf);
    shelves[stream] = static_cast<ShelfIndex>(shelves_.size());
    largest_.note(shelves[stream]);
    shelves_.push_back({of, stream, FreeBlocks(9, shelves_.size() >= kShelvesWithTables)});
  }
  turn_to(lane_);
  return shelf_of(pool, stream);
}

void Allocator::count_reserved(const Block& block, Bytes amount, bool grows) {
  const bool small = is_small(block);
  PooledStat& of_owner = statistics_.reserved_by_pool[pool_of(block).owner];
  if (grows) {
    total_allocated_memory_ += amount;
    ++statistics_.num_device_alloc;
    statistics_.reserved_bytes.increase(small, amount);
    of_owner.increase(small, amount);
  } else {
    total_allocated_memory_ -= amount;
    ++statistics_.num_device_free;
    statistics_.reserved_bytes.decrease(small, amount);
    of_owner.decrease(small, amount);
  }
}

FreeSpace Allocator::free_space() const {
  FreeSpace space;
  if (allowed_memory_maximum_) {
    space.obtainable =
        *allowed_memory_maximum_ - std::min(*allowed_memory_maximum_, total_allocated_memory_);
  }
  space.total =
      static_cast<Bytes>(statistics_.reserved_bytes.current() - statistics_.bytes.active());
  space.largest = largest_.get([&](ShelfIndex shelf) { return shelves_[shelf].free.largest(); });
  return space;
}

std::vector<AddressRange> Allocator::free_ranges() const {
  std::vector<AddressRange> ranges;
  for (const BlockPool& pool : pools_) {
    for_each_shelf(pool, [&](const FreeBlocks& free) {
      free.for_each([&](const FreeBlock& block) {
        const Address from = blocks_[block.block].address;
        ranges.push_back({from, from + block.size});
      });
    });
  }
  return ranges;
}

StrategyUsage Allocator::usage() const {
  return {.oom_retries = statistics_.num_alloc_retries, .syncs = statistics_.num_sync_all_streams};
}

Testimony Allocator::testimony() const {
  return {.counters = memory_stats(statistics_, settings_.max_split_size, release_, pool_ids_)};
}

MemoryState Allocator::memory_state() const {
  MemoryState state;
  const bool numbered = tie_break_ == Release::TieBreak::segment_number;
  std::map<std::uint64_t, std::vector<Address>> by_age;  // segments, of a reservation all its runs
  std::vector<bool> dead(blocks_.size());
  for (std::size_t i = 0; i < unused_count_; ++i) dead[unused_[i]] = true;
  for (Handle first = kNoBlock + 1; first < blocks_.size(); ++first) {
    if (dead[first] || blocks_[first].completed_early || blocks_[first].prev != kNoBlock) continue;
    // A reservation is one segment for each mapped run.
    SegmentInfo* segment = nullptr;
    for (Handle handle = first; handle != kNoBlock; handle = blocks_[handle].next) {
      const Block& block = blocks_[handle];
      if (!block.mapped) {
        segment = nullptr;
        continue;
      }
      if (segment == nullptr) {
        state.segments.push_back({.address = block.address,
                                  .stream = shelves_[block.shelf].stream,
                                  .pool = pool_of(block).owner,
                                  .small_pool = is_small(block),
                                  .expandable = block.expandable(),
                                  .blocks = {}});
        segment = &state.segments.back();
        if (numbered) by_age[blocks_[first].rank].push_back(block.address);
      }
      const bool free = block.state == BlockState::free;
      segment->size += block.size;
      segment->blocks.push_back({.address = block.address,
                                 .size = block.size,
                                 .requested = free ? 0 : block.requested,
                                 .state = block.state});
    }
  }
  std::ranges::sort(state.segments, {}, &SegmentInfo::address);
  std::uint32_t age = 0;
  for (const auto& [rank, addresses] : by_age) {
    for (const Address at : addresses) {
      std::ranges::lower_bound(state.segments, at, {}, &SegmentInfo::address)->age = age;
    }
    ++age;
  }
  return state;
}

}  // namespace memreplay::torch

#include <algorithm>
#include <numeric>

#include "strategy/torch/serving.hpp"

namespace memreplay::torch {
namespace {

// Mapped runs that follow each other without a run of another pool between them are taken for one
// reservation: a second one for the same pool only appears when the first is full.
bool same_reservation(const SegmentInfo& a, const SegmentInfo& b) {
  return a.expandable && b.expandable && a.stream == b.stream && a.pool == b.pool &&
         a.small_pool == b.small_pool;
}

}  // namespace

// The granule of the reservation that the first of these runs begins: that of these settings,
// unless runs were mapped in other pieces.
Bytes Allocator::granule_of(std::span<const SegmentInfo> runs) const {
  const SegmentInfo& first = runs.front();
  Bytes granule = first.small_pool ? kSmallBuffer : settings_.large_segment_size;
  for (const SegmentInfo& run : runs) {
    if (&run != &first && !same_reservation(first, run)) break;
    granule = std::gcd(granule, std::gcd(run.address - first.address, run.size));
  }
  return granule;
}

// The reservation that the first of these runs begins holds all of its runs, and ends where other
// memory begins, however large the device is.
Bytes Allocator::length_of_reservation(std::span<const SegmentInfo> runs, Bytes granule) const {
  const Address begin = runs.front().address;
  std::size_t last = 0;
  while (last + 1 < runs.size() && same_reservation(runs[last], runs[last + 1])) ++last;
  const Address end = runs[last].address + runs[last].size;
  const Address others = last + 1 < runs.size() ? runs[last + 1].address : ~Address{0};
  const Bytes length = std::min(reservation_size(settings_, device_->total_bytes(), granule),
                                (others - begin) / granule * granule);
  return std::max(length, end - begin);
}

// Ranks in the order in which the segments came; runs of one reservation share that of the first.
std::vector<std::uint64_t> Allocator::ranks_by_age(const std::vector<SegmentInfo>& segments) {
  std::vector<std::size_t> by_age;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    if (i == 0 || !same_reservation(segments[i - 1], segments[i])) by_age.push_back(i);
  }
  std::ranges::stable_sort(by_age, {}, [&](std::size_t i) { return segments[i].age; });
  std::vector<std::uint64_t> ranks(segments.size());
  for (const std::size_t i : by_age) ranks[i] = first_rank(segments[i].address);
  return ranks;
}

void Allocator::adopt(const MemoryState& state, std::span<Handle> by_slot) {
  const std::vector<std::uint64_t> ranks = ranks_by_age(state.segments);
  Handle last = kNoBlock;
  for (std::size_t i = 0; i < state.segments.size(); ++i) {
    const SegmentInfo& segment = state.segments[i];
    const bool continues = i > 0 && same_reservation(state.segments[i - 1], segment);
    if (!continues) last = kNoBlock;
    Block block{.address = segment.address,
                .shelf = open_shelf(pool_of(segment.pool, segment.small_pool), segment.stream)};
    if (segment.expandable && continues) {
      block.reservation = blocks_[last].reservation;
      const Reservation& reservation = reservations_[block.reservation - 1];
      block.rank = rank_behind(reservation.rank, segment.address - reservation.address);
      last = adopt_unmapped(last, segment.address);
    } else if (segment.expandable) {
      // Where a reservation begins below its first mapped run is in no recording: it begins there.
      const auto runs = std::span(state.segments).subspan(i);
      const Bytes granule = granule_of(runs);
      block.rank = ranks[i];
      block.reservation = keep_reservation(
          {segment.address, length_of_reservation(runs, granule), granule, block.rank, true});
    } else {
      block.rank = ranks[i];
      statistics_.segment.increase(segment.small_pool, 1);
      if (segment.size >= settings_.max_split_size) statistics_.oversize_segments.increase(1);
    }
    count_reserved(block, segment.size, true);
    for (const BlockInfo& info : segment.blocks) {
      last = adopt_block(block, info, last);
      if (info.slot != kNoSlot) by_slot[info.slot] = last;
    }
    const bool continued =
        i + 1 < state.segments.size() && same_reservation(segment, state.segments[i + 1]);
    if (segment.expandable && !continued) {
      const Reservation& reservation = reservations_[block.reservation - 1];
      adopt_unmapped(last, reservation.address + reservation.size);
    }
    if (!segment.expandable) last = kNoBlock;
  }
  for (const Block& block : blocks_) {
    if (!block.mapped || block.expandable() || block.state != BlockState::free) continue;
    if (!block.is_split()) continue;
    const bool small = is_small(block);
    statistics_.inactive_split.increase(small, 1);
    statistics_.inactive_split_bytes.increase(small, block.size);
  }
}

Handle Allocator::append_block(Block block, Handle before) {
  block.prev = before;
  block.rank = rank_of_new(block);
  const Handle handle = new_block(block);
  blocks_[before].next = handle;
  if (!block.mapped) {
    unmapped_set(block).insert({block.address, handle});
  }
  return handle;
}

// The part of a reservation between a mapped block and `end` is not mapped.
Handle Allocator::adopt_unmapped(Handle last, Address end) {
  Block gap = blocks_[last];
  gap.address += gap.size;
  if (gap.address >= end) return last;
  gap.size = end - gap.address;
  gap.rank = rank_behind(gap.rank, blocks_[last].size);
  gap.state = BlockState::free;
  gap.mapped = false;
  gap.next = kNoBlock;
  return append_block(gap, last);
}

Handle Allocator::adopt_block(Block block, const BlockInfo& info, Handle before) {
  const bool small = is_small(block);
  block.rank = rank_behind(block.rank, info.address - block.address);
  block.address = info.address;
  block.size = info.size;
  block.requested = info.requested;
  const Handle handle = append_block(block, before);
  if (info.state == BlockState::free) {
    insert_free<AllRules>(handle, free_set(block));
    return handle;
  }
  statistics_.requested_bytes.increase(small, info.requested);
  blocks_[handle].state = info.state;
  if (info.state == BlockState::pending) {
    statistics_.find_pending_block(small, info.size);
    blocks_[handle].since = next_pending_;
    pending_.emplace(next_pending_++, handle);
    return handle;
  }
  statistics_.take_block(small, info.size);
  if (info.size >= settings_.max_split_size) statistics_.oversize_allocations.increase(1);
  return handle;
}

}  // namespace memreplay::torch

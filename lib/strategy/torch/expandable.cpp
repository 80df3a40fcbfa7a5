#include <algorithm>
#include <charconv>

#include "strategy/torch/serving.hpp"

namespace memreplay::torch {

bool Allocator::allocatable(Handle handle) const {
  return blocks_[handle].state == BlockState::free;
}

Bytes reservation_size(const Settings& settings, Bytes total, Bytes granule) {
  Bytes length = total + total / 8;
  const std::string& wish = settings.expandable_segments_reserve;
  double value = 0;
  const char* end = wish.data() + wish.size();
  const auto [stop, code] = std::from_chars(wish.data(), end, value);
  const bool gibibytes = stop != end && *stop == 'G';
  if (code == std::errc{} && value > 0 && stop + gibibytes == end) {
    const double bytes = value * static_cast<double>(gibibytes ? kGiB : total);
    if (bytes < static_cast<double>(length)) length = static_cast<Bytes>(bytes);
  }
  return round_up(length, granule);
}

// From a block that may grow: a slightly larger hole inside is better than the tail that can still
// grow.
FreeBlocks::Cursor Allocator::tightest_from(const FreeBlocks& free, FreeBlocks::Cursor at) const {
  const auto extent = [&](const FreeBlocks::Cursor& candidate) {
    return candidate.block.size + unmapped_behind(candidate.block.block);
  };
  // No later one reaches less far than one that nothing unmapped follows.
  while (blocks_[at.block.block].expandable() && unmapped_behind(at.block.block) > 0) {
    const auto next = free.next(at);
    if (next.at_end() || extent(next) >= extent(at)) return at;
    at = next;
  }
  return at;
}

// The first block of a plain segment.
FreeBlocks::Cursor Allocator::plain_from(const FreeBlocks& free, FreeBlocks::Cursor at) const {
  while (!at.at_end() && blocks_[at.block.block].expandable()) at = free.next(at);
  return at;
}

Handle Allocator::find_expandable_block(const Search& search) {
  const ShelfIndex shelf = open_shelf(search.pool, search.stream);
  for (const auto& [address, handle] : shelves_[shelf].unmapped) {
    const Handle before = blocks_[handle].prev;
    const Handle first = allocatable(before) ? before : handle;
    Bytes reach = 0;
    for (Handle at = first; allocatable(at); at = blocks_[at].next) {
      reach += blocks_[at].size;
      if (reach >= search.size) return first;
    }
  }
  return new_reservation(search);
}

Handle Allocator::new_reservation(const Search& search) {
  VirtualMemory* memory = device_->virtual_memory();
  const Bytes granule = is_small(search.pool) ? kSmallBuffer : settings_.large_segment_size;
  const Bytes size = reservation_size(settings_, device_->total_bytes(), granule);
  const auto address = memory->reserve(size);
  if (!address) return kNoBlock;
  if (size < search.size) {
    memory->release(*address);
    return kNoBlock;
  }
  const std::uint64_t rank = first_rank(*address);
  const std::uint32_t reservation = keep_reservation({*address, size, granule, rank});
  Block block{.address = *address,
              .size = size,
              .rank = rank,
              .reservation = reservation,
              .shelf = open_shelf(search.pool, search.stream),
              .mapped = false};
  block.rank = rank_of_new(block);
  const Handle handle = new_block(block);
  unmapped_set(blocks_[handle]).insert({*address, handle});
  return handle;
}

// Where a reservation is taken for longer than it is, the next one begins inside it.
std::optional<Allocator::Reservation> Allocator::reservation_at(Address address) const {
  std::optional<Reservation> found;
  for (std::uint32_t i = 0; i < reservations_.size(); ++i) {
    const Reservation& range = reservations_[i];
    if (std::ranges::find(unused_reservations_, i + 1) != unused_reservations_.end()) continue;
    if (address < range.address || address - range.address >= range.size) continue;
    if (!found || range.address > found->address) found = range;
  }
  return found;
}

Bytes Allocator::unmapped_behind(Handle block) const {
  const Handle next = blocks_[block].next;
  return blocks_[next].mapped ? 0 : blocks_[next].size;
}

std::optional<Allocator::GrowingBlock> Allocator::growing_block_at(Address address,
                                                                   Address before) const {
  for (const BlockPool& pool : pools_) {
    for (const ShelfIndex shelf : pool.shelves) {
      if (shelf == kNoShelf) continue;
      const FreeBlocks& free = shelves_[shelf].free;
      std::optional<Bytes> reach_before;
      for (auto at = free.begin(); !at.at_end(); at = free.next(at)) {
        const FreeBlock& block = free[at];
        const Bytes tail = unmapped_behind(block.block);
        if (blocks_[block.block].address == before) reach_before = block.size + tail;
        if (blocks_[block.block].address != address) continue;
        if (reach_before) {
          if (tail == 0 || *reach_before <= block.size) return std::nullopt;
          return GrowingBlock{address + block.size, tail, *reach_before - block.size - 1};
        }
        const auto next = free.next(at);
        if (tail == 0 || next.at_end()) return std::nullopt;
        const Bytes reach = free[next].size + unmapped_behind(free[next].block);
        return GrowingBlock{address + block.size, tail, reach - block.size};
      }
    }
  }
  return std::nullopt;
}

std::uint32_t Allocator::keep_reservation(const Reservation& reservation) {
  if (unused_reservations_.empty()) {
    reservations_.push_back(reservation);
    return static_cast<std::uint32_t>(reservations_.size());
  }
  const std::uint32_t number = unused_reservations_.back();
  unused_reservations_.pop_back();
  reservations_[number - 1] = reservation;
  return number;
}

// What was mapped before a refusal stays, as free blocks.
Handle Allocator::try_allocate_expandable(const Search& search) {
  Handle block = find_expandable_block(search);
  if (block == kNoBlock) return kNoBlock;
  if (!blocks_[block].mapped && !map_block(block, std::min(blocks_[block].size, search.size))) {
    return kNoBlock;
  }
  while (blocks_[block].size < search.size) {
    const Handle next = blocks_[block].next;
    const Bytes missing = search.size - blocks_[block].size;
    if (!map_block(next, std::min(missing, blocks_[next].size))) return kNoBlock;
    block = next;  // it has absorbed the one before
  }
  erase_free(block, free_set(blocks_[block]));
  return block;
}

bool Allocator::map_block(Handle handle, Bytes want) {
  Block& block = blocks_[handle];
  const Bytes granule = reservations_[block.reservation - 1u].granule;
  const Bytes size = std::min(round_up(want, granule), block.size);
  if (!device_->virtual_memory()->map(block.address, size, granule)) return false;
  UnmappedBlocks& unmapped = unmapped_set(block);
  unmapped.erase({block.address, handle});
  if (size < block.size) {
    Block rest = block;
    rest.address += size;
    rest.size -= size;
    rest.rank = rank_behind(rest.rank, size);
    rest.prev = handle;
    rest.rank = rank_of_new(rest);
    const Handle after = new_block(rest);
    blocks_[rest.next].prev = after;
    blocks_[handle].next = after;
    blocks_[handle].size = size;
    unmapped.insert({rest.address, after});
  }
  blocks_[handle].mapped = true;
  try_merge<AllRules, Side::before>(handle, free_set(blocks_[handle]));
  try_merge<AllRules, Side::behind>(handle, free_set(blocks_[handle]));
  insert_free<AllRules>(handle, free_set(blocks_[handle]));
  count_reserved(blocks_[handle], size, true);
  return true;
}

// Unmaps the whole granules inside a free block; what is left at its ends stays free and mapped.
void Allocator::unmap_block(Handle handle) {
  const Block block = blocks_[handle];
  const Reservation& reservation = reservations_[block.reservation - 1u];
  const Bytes offset = block.address - reservation.address;
  const Bytes from = round_up(offset, reservation.granule);
  const Bytes to = (offset + block.size) / reservation.granule * reservation.granule;
  if (to <= from) return;
  erase_free(handle, free_set(blocks_[handle]));
  device_->virtual_memory()->unmap(reservation.address + from, to - from);
  if (from > offset) {
    Block head = block;
    head.size = from - offset;
    head.next = handle;
    head.rank = rank_of_new(head);
    const Handle before = new_block(head);
    blocks_[head.prev].next = before;
    blocks_[handle].prev = before;
    insert_free<AllRules>(before, free_set(blocks_[before]));
  }
  if (to < offset + block.size) {
    Block tail = block;
    tail.address = reservation.address + to;
    tail.rank = rank_behind(block.rank, to - offset);
    tail.size = offset + block.size - to;
    tail.prev = handle;
    tail.rank = rank_of_new(tail);
    const Handle after = new_block(tail);
    blocks_[tail.next].prev = after;
    blocks_[handle].next = after;
    insert_free<AllRules>(after, free_set(blocks_[after]));
  }
  blocks_[handle].address = reservation.address + from;
  blocks_[handle].rank = rank_behind(block.rank, from - offset);
  blocks_[handle].size = to - from;
  blocks_[handle].mapped = false;
  try_merge<AllRules, Side::before>(handle, free_set(blocks_[handle]));
  try_merge<AllRules, Side::behind>(handle, free_set(blocks_[handle]));
  unmapped_set(block).insert({blocks_[handle].address, handle});
  count_reserved(block, to - from, false);
}

void Allocator::destroy_reservation(Handle handle) {
  const Block block = blocks_[handle];
  unmapped_set(block).erase({block.address, handle});
  const Reservation& gone = reservations_[block.reservation - 1u];
  if (!gone.recorded) device_->virtual_memory()->release(gone.address);
  unused_reservations_.push_back(block.reservation);
  drop_block(handle);
}

}  // namespace memreplay::torch

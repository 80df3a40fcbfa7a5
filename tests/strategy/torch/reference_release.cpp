#include <algorithm>

#include "strategy/torch/reference.hpp"

namespace memreplay::reference {

void Allocator::garbage_collect_cached_blocks() {
  const auto threshold =
      static_cast<Bytes>(settings_.garbage_collection_threshold * static_cast<double>(*limit_));
  if (total_allocated_memory_ <= threshold) return;
  const Bytes target = total_allocated_memory_ - threshold;
  const auto age = [&](Place place) { return searches_[0][0] - at(place).searches_before; };
  const auto is_split = [&](Place place) { return segments_[place.segment].blocks.size() > 1; };

  std::int64_t total_age = 0;
  std::int64_t count = 0;
  for (const Address address : free_blocks(0, false)) {
    if (is_split(place_at(address))) continue;
    total_age += age(place_at(address));
    // It counts for the average although it is never collected.
    if (segments_[place_at(address).segment].expandable) ++met_["whole reservation in the average"];
    ++count;
  }
  Bytes reclaimed = 0;
  bool freed_one = true;
  for (int round = 1; reclaimed < target && freed_one && count > 0; ++round) {
    freed_one = false;
    const double average = static_cast<double>(total_age) / static_cast<double>(count);
    for (const Address address : free_blocks(0, false)) {
      const Place place = place_at(address);
      if (is_split(place) || segments_[place.segment].expandable) continue;
      if (static_cast<double>(age(place)) < average) continue;
      reclaimed += at(place).size;
      total_age -= age(place);
      --count;
      release_block(place);
      freed_one = true;
      ++met_[round == 1 ? "garbage collected" : "garbage collected in a later round"];
    }
  }
}

bool Allocator::release_available_cached_blocks(const Wanted& wanted) {
  if (settings_.max_split_size == torch::kUnlimited) return false;
  const Bytes key = std::max(wanted.size, settings_.max_split_size);
  // What was split before the limit was set cannot be released.
  const auto is_piece = [&](Place place) {
    const Segment& segment = segments_[place.segment];
    return segment.blocks.size() > 1 && !segment.expandable;
  };
  const auto enough = first_free(wanted.pool, wanted.small, [&](Place place) {
    return segments_[place.segment].stream == wanted.stream && at(place).size >= key &&
           !is_piece(place);
  });
  if (enough && !segments_[enough->segment].expandable) {
    ++met_["one block made room"];
    release_block(*enough);
    return true;
  }
  std::vector<Address> smaller;
  for (const Address address : free_blocks(wanted.pool, wanted.small)) {
    const Place place = place_at(address);
    if (is_piece(place)) continue;
    const StreamIndex stream = segments_[place.segment].stream;
    if (stream < wanted.stream || (stream == wanted.stream && at(place).size < key)) {
      smaller.push_back(address);
    }
  }
  Bytes released = 0;
  for (; !smaller.empty() && released < key; smaller.pop_back()) {
    const Place place = place_at(smaller.back());
    if (segments_[place.segment].stream != wanted.stream) break;
    if (at(place).size < settings_.max_split_size) break;
    if (segments_[place.segment].expandable) continue;
    released += at(place).size;
    release_block(place);
    ++met_["several blocks made room"];
  }
  return released >= key;
}

/// Releases one private pool, or all that can be released.
void Allocator::release_cached_blocks(std::optional<PoolIndex> only) {
  ++num_sync_all_streams_;
  for (const Life life : std::vector<Life>(pending_)) {
    if (only && segments_[place_of(life).segment].pool != *only) continue;
    complete_free(life);
    ++met_["completed by waiting"];
  }
  if (!only) {
    release_blocks(0, false);
    release_blocks(0, true);
  }
  for (const PoolIndex pool : freeable_.pools()) {
    if (only && *only != pool) continue;
    release_blocks(pool, true);
    release_blocks(pool, false);
    ++met_["private pool released"];
    const bool empty = std::ranges::none_of(
        segments_, [&](const Segment& segment) { return segment.pool == pool; });
    if (empty) freeable_.erase(pool);
  }
}

void Allocator::release_pool(PoolIndex pool, bool at_once) {
  freeable_.erase(pool);
  freeable_.insert(pool, options_.pools[pool]);
  use_on_oom_.erase(pool);
  if (at_once) release_cached_blocks(pool);
}

void Allocator::release_blocks(PoolIndex pool, bool small) {
  std::vector<Address> expandable;
  for (const Address address : free_blocks(pool, small)) {
    const Place place = place_at(address);
    if (segments_[place.segment].expandable) {
      expandable.push_back(address);
    } else if (segments_[place.segment].blocks.size() == 1) {
      release_block(place);
    }
  }
  for (const Address address : expandable) unmap_block(place_at(address));
}

void Allocator::release_block(Place place) {
  const Segment& gone = segments_[place.segment];
  device_.give_back(gone.address, gone.size);
  log(Op::segment_free, gone.address, gone.size);
  ++num_device_free_;
  change(Family::segment, gone, -1);
  change_reserved(gone, -static_cast<std::int64_t>(gone.size));
  if (gone.size >= settings_.max_split_size) oversize_segments_.change(-1);
  segments_.erase(segments_.begin() + static_cast<std::ptrdiff_t>(place.segment));
}

}  // namespace memreplay::reference

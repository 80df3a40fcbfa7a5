#include "strategy/torch/reference.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace memreplay::reference {
namespace {

constexpr Bytes kQuantum = 512;
constexpr Bytes kLargestSmall = kMiB;
constexpr Bytes kTooMuch = Bytes{1} << 60;

/// throw_on_cudamalloc_oom: nothing else is tried.
struct Rejected {};

int floor_log2(Bytes size) {
  int log2 = 0;
  while (size >>= 1) ++log2;
  return log2;
}

Bytes round_size(Bytes size, const torch::RoundupTable& roundup_power2_divisions) {
  if (size < kQuantum) return kQuantum;
  const int log2 = floor_log2(size);
  const Bytes divisions =
      roundup_power2_divisions[static_cast<std::size_t>(std::clamp(log2 - 20, 0, 15))];
  if (divisions <= 1 || size <= kQuantum * divisions) return round_up(size, kQuantum);
  return round_up(size, (Bytes{1} << log2) / divisions);
}

Bytes get_allocation_size(Bytes size, Bytes large_segment_size) {
  if (size <= kLargestSmall) return 2 * kMiB;
  if (size < 10 * kMiB) return large_segment_size;
  return round_up(size, 2 * kMiB);
}

}  // namespace

Allocator::Allocator(const Options& options)
    : options_(options),
      device_(options.capacity, options.policy),
      searches_(options.pools.size(), {0, 0}) {
  for (PoolIndex pool = 1; pool < options.pools.size(); ++pool) {
    if (options.pool_options[pool].use_on_oom) use_on_oom_.insert(pool, options.pools[pool]);
  }
  const double fraction = settings_.per_process_memory_fraction;
  if (fraction < 1 || settings_.fraction_set_by_call)
    limit_ = static_cast<Bytes>(fraction * static_cast<double>(device_.total()));
}

std::optional<Allocator::Placed> Allocator::allocate(Bytes requested, StreamIndex stream,
                                                     PoolIndex pool) {
  if (requested >= kTooMuch) return std::nullopt;
  Wanted wanted{.requested = requested, .stream = stream, .pool = pool};
  wanted.size =
      round_size(requested + settings_.request_padding, settings_.roundup_power2_divisions);
  wanted.alloc_size = get_allocation_size(wanted.size, settings_.large_segment_size);
  wanted.small = wanted.size <= kLargestSmall;
  wanted.expandable = settings_.expandable_segments;

  std::optional<Place> found = get_free_block(wanted);
  try {
    if (!found) found = obtain_block(wanted);
  } catch (const Rejected&) {
    ++num_oom_rejections_;
    return std::nullopt;
  }
  if (found) return alloc_found_block(aligned(*found, wanted), wanted);
  ++num_ooms_;
  if (capture_underway(wanted)) ++met_["no retry in a private pool"];
  return std::nullopt;
}

/// Until 2.13 the use of any private pool was taken for a capture.
bool Allocator::capture_underway(const Wanted& wanted) const {
  if (wanted.pool == 0) return false;
  return !options_.release.has(13) || options_.pool_options[wanted.pool].of_a_graph;
}

std::optional<Allocator::Place> Allocator::obtain_block(Wanted& wanted) {
  if (collects_garbage()) garbage_collect_cached_blocks();
  auto found = alloc_block(wanted);
  if (!found && options_.release.has(11)) found = try_mempool_fallback(wanted);
  if (!found && release_available_cached_blocks(wanted)) found = alloc_block(wanted);
  if (!found && !capture_underway(wanted)) {
    release_cached_blocks();
    ++num_alloc_retries_;
    found = alloc_block(wanted);
  }
  if (!found && !options_.release.has(11)) found = try_mempool_fallback(wanted);
  return found;
}

/// The request goes on as one for the pool that lends a block.
std::optional<Allocator::Place> Allocator::try_mempool_fallback(Wanted& wanted) {
  if (wanted.pool != 0) return std::nullopt;
  for (const PoolIndex pool : use_on_oom_.pools()) {
    Wanted redirected = wanted;
    redirected.pool = pool;
    redirected.expandable = false;
    const auto found = get_free_block(redirected);
    if (!found) continue;
    wanted = redirected;
    ++met_["lent by a private pool"];
    return found;
  }
  return std::nullopt;
}

void Allocator::free(Life life) {
  request_free(life);
  complete_free(life);
}

void Allocator::request_free(Life life) {
  const Place place = place_of(life);
  Block& block = at(place);
  block.state = Block::State::pending;
  change(Family::allocation, segments_[place.segment], -1);
  change(Family::allocated_bytes, segments_[place.segment], -static_cast<std::int64_t>(block.size));
  if (block.size >= settings_.max_split_size) oversize_allocations_.change(-1);
  pending_.push_back(life);
}

void Allocator::complete_free(Life life) {
  if (std::erase(pending_, life) != 0) free_block(place_of(life));
}

Allocator::Place Allocator::place_of(Life life) const {
  for (Place place; place.segment < segments_.size(); ++place.segment) {
    const auto& blocks = segments_[place.segment].blocks;
    for (place.block = 0; place.block < blocks.size(); ++place.block) {
      if (blocks[place.block].life == life) return place;
    }
  }
  throw std::logic_error("no such block");
}

Allocator::Place Allocator::place_at(Address address) const {
  for (Place place; place.segment < segments_.size(); ++place.segment) {
    const auto& blocks = segments_[place.segment].blocks;
    for (place.block = 0; place.block < blocks.size(); ++place.block) {
      if (blocks[place.block].address == address) return place;
    }
  }
  throw std::logic_error("no block there");
}

/// The order of a pool's free blocks.
bool Allocator::before(Place a, Place b) const {
  const Segment& segment_a = segments_[a.segment];
  const Segment& segment_b = segments_[b.segment];
  const Block& block_a = at(a);
  const Block& block_b = at(b);
  if (segment_a.stream != segment_b.stream) return segment_a.stream < segment_b.stream;
  if (block_a.size != block_b.size) return block_a.size < block_b.size;
  if (!options_.release.has(12)) return block_a.address < block_b.address;
  if (!options_.release.has(13)) return block_a.object_number < block_b.object_number;
  if (segment_a.number != segment_b.number) return segment_a.number < segment_b.number;
  return block_a.address < block_b.address;
}

/// In order; by address, which stays when other segments go.
std::vector<Address> Allocator::free_blocks(PoolIndex pool, bool small) const {
  std::vector<Place> places;
  first_free(pool, small, [&](Place place) {
    places.push_back(place);
    return false;
  });
  std::sort(places.begin(), places.end(), [&](Place a, Place b) { return before(a, b); });
  std::vector<Address> addresses;
  for (const Place place : places) addresses.push_back(at(place).address);
  return addresses;
}

/// With the addresses after the block that have no memory yet.
Bytes Allocator::size_with_tail(Place place) const {
  const auto& blocks = segments_[place.segment].blocks;
  const bool has_tail =
      place.block + 1 < blocks.size() && blocks[place.block + 1].state == Block::State::unmapped;
  return at(place).size + (has_tail ? blocks[place.block + 1].size : 0);
}

std::optional<Allocator::Place> Allocator::get_free_block(const Wanted& wanted) {
  if (collects_garbage()) ++searches_[wanted.pool][wanted.small];
  Bytes smallest = UINT64_MAX;
  bool several = false;
  auto best = first_free(wanted.pool, wanted.small, [&](Place place) {
    const Bytes size = at(place).size;
    if (segments_[place.segment].stream != wanted.stream || size < wanted.size) return false;
    several = size == smallest || (several && size > smallest);
    smallest = std::min(size, smallest);
    return true;
  });
  if (!best) return std::nullopt;
  if (several) ++met_["equal blocks"];
  const auto is_expandable = [&](Place place) { return segments_[place.segment].expandable; };
  const auto next_after = [&](Place block) {
    return first_free(wanted.pool, wanted.small, [&](Place place) {
      return segments_[place.segment].stream == wanted.stream && before(block, place);
    });
  };
  if (is_expandable(*best) && wanted.expandable) {
    // Rather a hole that is somewhat larger than the end of what is mapped.
    for (auto next = next_after(*best);
         is_expandable(*best) && next && size_with_tail(*next) < size_with_tail(*best);
         next = next_after(*best)) {
      best = next;
      ++met_["tail spared"];
    }
  } else {
    while (best && is_expandable(*best)) {
      best = next_after(*best);
      ++met_["expandable blocks passed over"];
    }
    if (!best) return std::nullopt;
    if (wanted.expandable) ++met_["plain block for an expandable request"];
  }
  const Bytes size = at(*best).size;
  if (wanted.size < settings_.max_split_size && size >= settings_.max_split_size) {
    ++met_["block above the split limit"];
    return std::nullopt;
  }
  if (wanted.size >= settings_.max_split_size &&
      size >= wanted.size + settings_.max_non_split_rounding_size) {
    ++met_["block too large to stay whole"];
    return std::nullopt;
  }
  return best;
}

std::optional<Allocator::Place> Allocator::alloc_block(const Wanted& wanted) {
  const Bytes wished = total_allocated_memory_ + wanted.alloc_size;
  if (limit_ && wished > *limit_) {
    ++met_["limit reached"];
    return std::nullopt;
  }
  const double total = static_cast<double>(device_.total());
  if (settings_.throw_on_cudamalloc_oom &&
      wished > static_cast<Bytes>(settings_.per_process_memory_fraction * total)) {
    throw Rejected{};
  }
  if (wanted.expandable) return try_allocate_expandable_block(wanted);

  const auto address = device_.obtain(wanted.alloc_size);
  if (!address) return std::nullopt;
  Segment made{.address = *address,
               .size = wanted.alloc_size,
               .stream = wanted.stream,
               .pool = wanted.pool,
               .small = wanted.small,
               .number = ++segments_made_};
  made.blocks.push_back(
      {.address = made.address, .size = made.size, .object_number = ++objects_made_});
  log(Op::segment_alloc, made.address, made.size);
  change(Family::segment, made, 1);
  change_reserved(made, static_cast<std::int64_t>(made.size));
  if (made.size >= settings_.max_split_size) oversize_segments_.change(1);
  ++num_device_alloc_;
  segments_.push_back(made);
  return Place{segments_.size() - 1, 0};
}

/// torch_npu: a block of its own for what lies before an aligned address, if the rest suffices.
Allocator::Place Allocator::aligned(Place place, const Wanted& wanted) {
  Block front = at(place);
  const Bytes alignment = settings_.large_alignment;
  if (alignment == 0 || !settings_.expandable_segments || wanted.size < 2 * kMiB) return place;
  front.size = 0;
  while ((front.address + front.size) % alignment != 0) ++front.size;
  if (front.size == 0) return place;
  if (front.size + wanted.size > at(place).size) {
    ++met_["no room to align"];
    return place;
  }
  ++met_["aligned"];
  Segment& segment = segments_[place.segment];
  at(place).address += front.size;
  at(place).size -= front.size;
  front.searches_before = searches(segment);
  segment.blocks.insert(segment.blocks.begin() + static_cast<std::ptrdiff_t>(place.block), front);
  return {place.segment, place.block + 1};
}

bool Allocator::should_split(const Block& block, const Wanted& wanted) {
  if (options_.pool_options[wanted.pool].no_split) {
    ++met_["not split for its pool"];
    return false;
  }
  const Bytes remaining = block.size - wanted.size;
  if (wanted.small || wanted.expandable) return remaining >= kQuantum;
  return wanted.size < settings_.max_split_size && remaining > kLargestSmall;
}

Allocator::Placed Allocator::alloc_found_block(Place place, const Wanted& wanted) {
  Segment& segment = segments_[place.segment];
  const bool was_split = segment.blocks.size() > 1;
  Block& found = at(place);
  const auto as_change = [](Bytes size) { return static_cast<std::int64_t>(size); };
  if (should_split(found, wanted)) {
    const Block front{
        .address = found.address, .size = wanted.size, .object_number = ++objects_made_};
    found.address += wanted.size;
    found.size -= wanted.size;
    found.searches_before = searches(segment);
    if (!segment.expandable) {
      change(Family::inactive_split_bytes, segment,
             was_split ? -as_change(wanted.size) : as_change(found.size));
      if (!was_split) change(Family::inactive_split, segment, 1);
    }
    segment.blocks.insert(segment.blocks.begin() + static_cast<std::ptrdiff_t>(place.block), front);
  } else if (was_split && !segment.expandable) {
    change(Family::inactive_split_bytes, segment, -as_change(found.size));
    change(Family::inactive_split, segment, -1);
  }
  Block& taken = at(place);
  taken.state = Block::State::live;
  taken.requested = wanted.requested;
  taken.life = ++lives_;
  change(Family::allocation, segment, 1);
  change(Family::allocated_bytes, segment, as_change(taken.size));
  change(Family::active, segment, 1);
  change(Family::active_bytes, segment, as_change(taken.size));
  change(Family::requested_bytes, segment, as_change(wanted.requested));
  if (taken.size >= settings_.max_split_size) oversize_allocations_.change(1);
  return {taken.address, taken.size, taken.life};
}

void Allocator::free_block(Place place) {
  Segment& segment = segments_[place.segment];
  const auto size = static_cast<std::int64_t>(at(place).size);
  const auto requested = static_cast<std::int64_t>(at(place).requested);
  at(place).state = Block::State::free;
  at(place).requested = 0;
  at(place).life = 0;
  std::int64_t inactive_count = 0;
  std::int64_t inactive_size = 0;
  for (const bool with_previous : {true, false}) {
    const Bytes joined = try_merge(place, with_previous);
    if (joined > 0) --inactive_count;
    inactive_size -= static_cast<std::int64_t>(joined);
  }
  at(place).searches_before = searches(segment);
  if (segment.blocks.size() > 1) {
    ++inactive_count;
    inactive_size += static_cast<std::int64_t>(at(place).size);
  }
  if (!segment.expandable) {
    change(Family::inactive_split, segment, inactive_count);
    change(Family::inactive_split_bytes, segment, inactive_size);
  }
  change(Family::active, segment, -1);
  change(Family::active_bytes, segment, -size);
  change(Family::requested_bytes, segment, -requested);
}

/// Joins a block with a neighbour of the same kind, and follows it. The bytes that were joined.
Bytes Allocator::try_merge(Place& place, bool with_previous) {
  auto& blocks = segments_[place.segment].blocks;
  if (with_previous ? place.block == 0 : place.block + 1 == blocks.size()) return 0;
  const std::size_t neighbour = with_previous ? place.block - 1 : place.block + 1;
  if (blocks[neighbour].state != at(place).state) return 0;
  const Bytes size = blocks[neighbour].size;
  if (with_previous) at(place).address = blocks[neighbour].address;
  at(place).size += size;
  blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(neighbour));
  if (with_previous) --place.block;
  return size;
}

}  // namespace memreplay::reference

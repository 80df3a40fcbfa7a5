#include <algorithm>
#include <cstdlib>
#include <utility>

#include "strategy/torch/reference.hpp"

namespace memreplay::reference {

std::optional<Address> Device::obtain(Bytes size) {
  if (!map(round_up(size, kUnit))) return std::nullopt;
  return reserve(size);
}

void Device::give_back(Address region, Bytes size) {
  release(region);
  unmap(round_up(size, kUnit));
}

bool Device::map(Bytes size) {
  if (capacity_ && held_ + size > *capacity_) return false;
  held_ += size;
  return true;
}

Address Device::reserve(Bytes size) {
  size = round_up(size, kUnit);
  if (policy_ == AddressPolicy::upward) return std::exchange(next_, next_ + size);
  Address from = kFirst;
  auto next = taken_.begin();
  while (next != taken_.end() && next->from - from < size) from = (next++)->to;
  taken_.insert(next, {from, from + size});
  return from;
}

void Device::release(Address reservation) {
  std::erase_if(taken_, [&](const Range& range) { return range.from == reservation; });
}

/// All counts as allocated just now, and segments are numbered by address. Where a reservation
/// begins is not known: at its first mapped run, and it goes on over all the next runs of its kind.
std::vector<Life> Allocator::adopt(const MemoryState& state) {
  std::vector<Life> lives;
  for (const SegmentInfo& info : state.segments) {
    device_.adopt(info.size);
    ++num_device_alloc_;
    const bool continues = info.expandable && !segments_.empty() && segments_.back().expandable &&
                           segments_.back().stream == info.stream &&
                           segments_.back().pool == info.pool &&
                           segments_.back().small == info.small_pool;
    if (!continues) {
      segments_.push_back({.address = info.address,
                           .size = info.size,
                           .stream = info.stream,
                           .pool = info.pool,
                           .small = info.small_pool,
                           .expandable = info.expandable,
                           .number = ++segments_made_});
      if (info.expandable) segments_.back().size = reservation_size(info.small_pool);
    }
    Segment& segment = segments_.back();
    if (continues) segment.blocks.back().size = info.address - segment.blocks.back().address;
    change_reserved(segment, static_cast<std::int64_t>(info.size));
    if (!info.expandable) {
      change(Family::segment, segment, 1);
      if (info.size >= settings_.max_split_size) oversize_segments_.change(1);
    }
    for (const BlockInfo& block : info.blocks) {
      const auto size = static_cast<std::int64_t>(block.size);
      segment.blocks.push_back(
          {.address = block.address, .size = block.size, .object_number = ++objects_made_});
      if (block.state == BlockState::free) {
        if (info.expandable || info.blocks.size() == 1) continue;
        change(Family::inactive_split, segment, 1);
        change(Family::inactive_split_bytes, segment, size);
        continue;
      }
      Block& used = segment.blocks.back();
      used.state = Block::State::live;
      used.requested = block.requested;
      used.life = ++lives_;
      lives.push_back(used.life);
      change(Family::allocation, segment, 1);
      change(Family::allocated_bytes, segment, size);
      change(Family::active, segment, 1);
      change(Family::active_bytes, segment, size);
      change(Family::requested_bytes, segment, static_cast<std::int64_t>(block.requested));
      if (block.size >= settings_.max_split_size) oversize_allocations_.change(1);
    }
    const Address end = info.address + info.size;
    if (end >= segment.address + segment.size) continue;
    segment.blocks.push_back({.address = end,
                              .size = segment.address + segment.size - end,
                              .state = Block::State::unmapped,
                              .object_number = ++objects_made_});
  }
  return lives;
}

void Allocator::Stat::change(std::int64_t by) {
  current += by;
  peak = std::max(peak, current);
  (by > 0 ? allocated : freed) += std::abs(by);
}

void Allocator::change(Family family, const Segment& segment, std::int64_t by) {
  StatArray& three = stats_[static_cast<std::size_t>(family)];
  three[0].change(by);
  three[segment.small ? 1 : 2].change(by);
}

void Allocator::change_reserved(const Segment& segment, std::int64_t by) {
  total_allocated_memory_ += static_cast<Bytes>(by);
  change(Family::reserved_bytes, segment, by);
  if (segment.pool == 0) return;
  StatArray& of_pool = reserved_by_private_pool_[segment.pool];
  of_pool[0].change(by);
  of_pool[segment.small ? 1 : 2].change(by);
}

void Allocator::log(Op op, Address address, Bytes bytes) {
  device_log_.push_back({op, address, bytes});
}

bool Allocator::collects_garbage() const {
  return limit_ && settings_.garbage_collection_threshold > 0;
}

Bytes Allocator::granule(bool small) const {
  return small ? 2 * kMiB : settings_.large_segment_size;
}

std::int64_t& Allocator::searches(const Segment& segment) {
  return searches_[segment.pool][segment.small];
}

std::map<std::string, std::int64_t> Allocator::memory_stats() const {
  std::map<std::string, std::int64_t> all;
  const auto add = [&](const std::string& name, const Stat& stat) {
    all[name + ".current"] = stat.current;
    all[name + ".peak"] = stat.peak;
    all[name + ".allocated"] = stat.allocated;
    all[name + ".freed"] = stat.freed;
  };
  const auto add_three = [&](const std::string& name, const StatArray& three) {
    add(name + ".all", three[0]);
    add(name + ".small_pool", three[1]);
    add(name + ".large_pool", three[2]);
  };
  const auto add_family = [&](const std::string& name, Family family) {
    add_three(name, stats_[static_cast<std::size_t>(family)]);
  };
  add_family("active", Family::active);
  add_family("active_bytes", Family::active_bytes);
  add_family("allocated_bytes", Family::allocated_bytes);
  add_family("allocation", Family::allocation);
  add_family("inactive_split", Family::inactive_split);
  add_family("inactive_split_bytes", Family::inactive_split_bytes);
  add_family("requested_bytes", Family::requested_bytes);
  add_family("reserved_bytes", Family::reserved_bytes);
  add_family("segment", Family::segment);
  add("oversize_allocations", oversize_allocations_);
  add("oversize_segments", oversize_segments_);
  all["max_split_size"] = static_cast<std::int64_t>(settings_.max_split_size);
  all["num_alloc_retries"] = num_alloc_retries_;
  all["num_device_alloc"] = num_device_alloc_;
  all["num_device_free"] = num_device_free_;
  all["num_ooms"] = num_ooms_;
  all["num_sync_all_streams"] = num_sync_all_streams_;
  if (options_.release.has(12)) all["num_oom_rejections"] = num_oom_rejections_;
  if (!options_.release.has(13)) return all;
  for (const auto& [pool, stats] : reserved_by_private_pool_) {
    const PoolId id = options_.pools[pool];
    add_three("reserved_bytes_by_private_pools." + std::to_string(id.first) + "_" +
                  std::to_string(id.second),
              stats);
  }
  return all;
}

/// What is mapped of a reservation is a segment for each run of it. Ages are counted where they
/// break ties.
MemoryState Allocator::memory_state() const {
  MemoryState state;
  std::uint32_t age = 0;
  for (const Segment& segment : segments_) {
    const std::size_t shown_before = state.segments.size();
    bool continues = false;
    for (const Block& block : segment.blocks) {
      if (block.state == Block::State::unmapped) {
        continues = false;
        continue;
      }
      if (!continues) {
        state.segments.push_back({.address = block.address,
                                  .stream = segment.stream,
                                  .pool = segment.pool,
                                  .small_pool = segment.small,
                                  .expandable = segment.expandable});
        if (options_.release.has(13)) state.segments.back().age = age;
      }
      continues = true;
      SegmentInfo& shown = state.segments.back();
      shown.size += block.size;
      shown.blocks.push_back({.address = block.address,
                              .size = block.size,
                              .requested = block.requested,
                              .state = block.state == Block::State::live ? BlockState::allocated
                                       : block.state == Block::State::pending ? BlockState::pending
                                                                              : BlockState::free});
    }
    if (state.segments.size() > shown_before) ++age;
  }
  std::sort(state.segments.begin(), state.segments.end(),
            [](const SegmentInfo& a, const SegmentInfo& b) { return a.address < b.address; });
  return state;
}

}  // namespace memreplay::reference

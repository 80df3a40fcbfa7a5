#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/program.hpp"
#include "device/simulated_device.hpp"
#include "device/watch/heard_device.hpp"
#include "strategy/torch/pool_order.hpp"
#include "strategy/torch/release.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay::reference {

/// A device that is two numbers and a list of the addresses in use.
class Device {
 public:
  Device(std::optional<Bytes> capacity, AddressPolicy policy)
      : capacity_(capacity), policy_(policy) {}

  Bytes total() const { return capacity_.value_or(kTiB); }
  std::optional<Address> obtain(Bytes size);
  void give_back(Address region, Bytes size);
  /// A region that was there before, far from the addresses that are given here.
  void adopt(Bytes size) { held_ += round_up(size, kUnit); }

  Address reserve(Bytes size);
  void release(Address reservation);
  /// False: it would be more than there is.
  bool map(Bytes size);
  void unmap(Bytes size) { held_ -= size; }

 private:
  static constexpr Bytes kUnit = 2 * kMiB;
  struct Range {
    Address from = 0;
    Address to = 0;
  };

  std::optional<Bytes> capacity_;
  AddressPolicy policy_;
  Bytes held_ = 0;
  Address next_ = kFirst;  ///< upward
  static constexpr Address kFirst = Address{1} << 44;
  std::vector<Range> taken_;  ///< by address
};

/// Number of an allocation, from 1 on. Addresses are used again, these are not.
using Life = std::uint64_t;

/// PyTorch's caching allocator over a device of its own, as slow and plain as a description of it:
/// lists, and for every choice a look at all of it. Functions have PyTorch's names.
class Allocator {
 public:
  struct Options {
    torch::Settings settings;
    torch::Release release;
    std::optional<Bytes> capacity;
    AddressPolicy policy = AddressPolicy::upward;
    std::vector<PoolId> pools = std::vector<PoolId>(1);
    std::vector<PoolOptions> pool_options = std::vector<PoolOptions>(1);
  };
  struct Placed {
    Address address = 0;
    Bytes size = 0;  ///< the block's
    Life life = 0;
  };

  explicit Allocator(const Options& options);

  /// Takes over what there was before; the lives of its blocks in use, in their order.
  std::vector<Life> adopt(const MemoryState& state);
  std::optional<Placed> allocate(Bytes requested, StreamIndex stream, PoolIndex pool);
  void free(Life life);
  void request_free(Life life);
  /// Nothing happens when a synchronisation was faster.
  void complete_free(Life life);
  void empty_cache() { release_cached_blocks(); }
  /// No graph and no MemPool uses the pool any more. A MemPool empties its cache `at_once`.
  void release_pool(PoolIndex pool, bool at_once);

  std::map<std::string, std::int64_t> memory_stats() const;
  const std::vector<DeviceEvent>& device_log() const { return device_log_; }
  MemoryState memory_state() const;
  /// How often each of the rarer rules decided something.
  const std::map<std::string_view, std::uint64_t>& met() const { return met_; }

 private:
  struct Stat {
    std::int64_t current = 0;
    std::int64_t peak = 0;
    std::int64_t allocated = 0;
    std::int64_t freed = 0;

    void change(std::int64_t by);
  };
  using StatArray = std::array<Stat, 3>;  ///< all, small_pool, large_pool
  enum class Family {
    active,
    active_bytes,
    allocated_bytes,
    allocation,
    inactive_split,
    inactive_split_bytes,
    requested_bytes,
    reserved_bytes,
    segment,
    count
  };

  struct Block {
    enum class State { unmapped, free, live, pending };

    Address address = 0;
    Bytes size = 0;
    State state = State::free;
    std::uint64_t object_number = 0;
    Bytes requested = 0;               ///< not when free
    Life life = 0;                     ///< not when free
    std::int64_t searches_before = 0;  ///< its pool's, when it became free
  };
  struct Segment {
    Address address = 0;
    Bytes size = 0;
    StreamIndex stream = 0;
    PoolIndex pool = 0;
    bool small = false;
    bool expandable = false;  ///< a reservation of addresses; otherwise of cudaMalloc
    std::uint64_t number = 0;
    std::vector<Block> blocks;  ///< by address, without gaps
  };
  struct Place {
    std::size_t segment = 0;
    std::size_t block = 0;
  };
  struct Wanted {
    Bytes requested = 0;
    Bytes size = 0;        ///< rounded
    Bytes alloc_size = 0;  ///< size of a new segment for it
    StreamIndex stream = 0;
    PoolIndex pool = 0;
    bool small = false;
    bool expandable = false;
  };

  Block& at(Place place) { return segments_[place.segment].blocks[place.block]; }
  const Block& at(Place place) const { return segments_[place.segment].blocks[place.block]; }
  Place place_of(Life life) const;
  Place place_at(Address address) const;
  bool before(Place a, Place b) const;
  /// The first in order of a pool's free blocks for which the condition holds.
  template <typename Condition>
  std::optional<Place> first_free(PoolIndex pool, bool small, Condition condition) const {
    std::optional<Place> first;
    for (Place place; place.segment < segments_.size(); ++place.segment) {
      const Segment& segment = segments_[place.segment];
      if (segment.pool != pool || segment.small != small) continue;
      for (place.block = 0; place.block < segment.blocks.size(); ++place.block) {
        if (at(place).state != Block::State::free || !condition(place)) continue;
        if (!first || before(place, *first)) first = place;
      }
    }
    return first;
  }
  std::vector<Address> free_blocks(PoolIndex pool, bool small) const;
  Bytes size_with_tail(Place place) const;

  bool capture_underway(const Wanted& wanted) const;
  std::optional<Place> obtain_block(Wanted& wanted);
  std::optional<Place> try_mempool_fallback(Wanted& wanted);
  std::optional<Place> get_free_block(const Wanted& wanted);
  void garbage_collect_cached_blocks();
  std::optional<Place> alloc_block(const Wanted& wanted);
  std::optional<Place> try_allocate_expandable_block(const Wanted& wanted);
  std::optional<Place> find_expandable_block(const Wanted& wanted) const;
  std::optional<Place> reserve_expandable_segment(const Wanted& wanted);
  std::optional<Place> map_block(Place place, Bytes size);
  Place aligned(Place place, const Wanted& wanted);
  Placed alloc_found_block(Place place, const Wanted& wanted);
  bool should_split(const Block& block, const Wanted& wanted);
  void free_block(Place place);
  Bytes try_merge(Place& place, bool with_previous);
  bool release_available_cached_blocks(const Wanted& wanted);
  void release_cached_blocks(std::optional<PoolIndex> only = {});
  void release_blocks(PoolIndex pool, bool small);
  void release_block(Place place);
  void unmap_block(Place place);

  void change(Family family, const Segment& segment, std::int64_t by);
  void change_reserved(const Segment& segment, std::int64_t by);
  void log(Op op, Address address, Bytes bytes);
  bool collects_garbage() const;
  Bytes granule(bool small) const;
  Bytes reservation_size(bool small) const;
  std::int64_t& searches(const Segment& segment);

  Options options_;
  const torch::Settings& settings_ = options_.settings;
  Device device_;
  std::optional<Bytes> limit_;
  std::vector<Segment> segments_;
  std::vector<Life> pending_;  ///< in the order of the requests
  Bytes total_allocated_memory_ = 0;
  std::uint64_t segments_made_ = 0;
  std::uint64_t objects_made_ = 0;
  Life lives_ = 0;
  std::vector<std::array<std::int64_t, 2>> searches_;  ///< by pool: large, small
  torch::PoolOrder freeable_;                          ///< pools that nobody holds any more
  torch::PoolOrder use_on_oom_;

  std::array<StatArray, static_cast<std::size_t>(Family::count)> stats_{};
  std::map<PoolIndex, StatArray> reserved_by_private_pool_;
  Stat oversize_allocations_;
  Stat oversize_segments_;
  std::int64_t num_alloc_retries_ = 0;
  std::int64_t num_device_alloc_ = 0;
  std::int64_t num_device_free_ = 0;
  std::int64_t num_oom_rejections_ = 0;
  std::int64_t num_ooms_ = 0;
  std::int64_t num_sync_all_streams_ = 0;
  std::vector<DeviceEvent> device_log_;
  std::map<std::string_view, std::uint64_t> met_;
};

}  // namespace memreplay::reference

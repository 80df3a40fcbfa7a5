#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "strategy/parts/free_blocks.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy.hpp"
#include "strategy/torch/release.hpp"
#include "strategy/torch/settings.hpp"
#include "strategy/torch/statistics.hpp"
#include "strategy/torch/watched_limit.hpp"

namespace memreplay::torch {

/// A piece of a segment or of a reservation, linked with its neighbours in address order.
struct Block {
  Address address = 0;
  Bytes size = 0;
  Bytes requested = 0;
  /// Orders free blocks of equal size: the address up to 2.11, the number of the Block object in
  /// 2.12, that of its segment or reservation and then the address from 2.13 on.
  std::uint64_t rank = 0;
  /// Searches of the pool when it became free (gc_count_base); its key in pending_ while pending.
  std::uint64_t since = 0;
  Handle prev = kNoHandle;
  Handle next = kNoHandle;
  std::uint32_t reservation = 0;  ///< one above the index into reservations_; 0: plain segment
  StreamIndex stream = 0;
  std::uint16_t pool = 0;  ///< index into pools_
  bool allocated = false;
  bool pending = false;  ///< freed by its owner, not yet by other streams
  bool mapped = true;
  /// Completed by a synchronisation before the trace says so; the memory has another handle now.
  bool completed_early = false;

  bool is_split() const { return prev != kNoHandle || next != kNoHandle; }
  bool expandable() const { return reservation != 0; }
};

/// Parts of reservations without memory behind them, by address.
using UnmappedBlocks = std::set<std::pair<Address, Handle>>;

/// PyTorch's native CUDA caching allocator (DeviceCachingAllocator in
/// c10/cuda/CUDACachingAllocator.cpp), by the rules of one release. O(log free blocks) an event.
class Allocator final : public StrategyOn<Allocator>,
                        public PrivatePools,
                        public Adoption,
                        private Prefetch {
 public:
  /// `pools` names the private pools by index, `pool_options` says how they were made.
  Allocator(DeviceModel& device, const Settings& settings, const Release& release,
            std::vector<PoolId> pools, std::vector<PoolOptions> pool_options = {});

  std::optional<Placement> allocate(const Request& request) override;
  void free(Handle block, Giver) override;
  void request_free(Handle block) override;
  void complete_free(Handle block) override;
  void empty_cache() override;
  Abilities abilities() override { return {.pools = this, .adoption = this, .prefetch = this}; }
  void release_pool(PoolIndex pool, PoolCache cache) override;
  void adopt(const MemoryState& state, std::span<Handle> by_slot) override;
  void prefetch(Handle block) const override {
    const Block& freed = blocks_[block];
    if (freed.prev != kNoHandle) __builtin_prefetch(&blocks_[freed.prev]);
    if (freed.next != kNoHandle) __builtin_prefetch(&blocks_[freed.next]);
  }
  FreeSpace free_space() const override;
  std::vector<AddressRange> free_ranges() const override;
  StrategyUsage usage() const override;
  Testimony testimony() const override;
  MemoryState memory_state() const override;

  /// The program sets another memory limit, or passes another configuration string.
  void set_memory_limit(std::optional<Bytes> limit) { allowed_memory_maximum_ = limit; }
  void change_settings(const Settings& settings);

  /// A range of addresses of an expandable segment. Its length is a whole number of granules.
  struct Reservation {
    Address address = 0;
    Bytes size = 0;
    Bytes granule = 0;
    std::uint64_t rank = 0;  ///< of its first byte
    bool recorded = false;   ///< taken over: this device reserved nothing for it
  };
  std::optional<Reservation> reservation_at(Address address) const;
  /// The search for a best fit passes over a free block that can still grow when the next one can
  /// reach less far.
  struct GrowingBlock {
    Address end = 0;    ///< of what is mapped
    Bytes tail = 0;     ///< unmapped bytes behind it
    Bytes longest = 0;  ///< the most with which the search ends at it
  };
  /// Of the free block at `address`, if it can grow: the search stays at it, or where the block at
  /// `before` comes first, goes on to it.
  std::optional<GrowingBlock> growing_block_at(Address address, Address before) const;

  const Settings& settings() const { return settings_; }
  const Statistics& statistics() const { return statistics_; }
  /// max_split_size and max_non_split_rounding_size with what they were compared with. Another
  /// value between would have placed every block where this one did.
  const WatchedLimit& max_split_size() const { return max_split_size_; }
  const WatchedLimit& max_non_split_rounding_size() const { return max_non_split_rounding_size_; }
  /// Sizes of the whole blocks that garbage collection would free, in its order, to reclaim
  /// `target` bytes.
  std::vector<Bytes> collectable(Bytes target) const;

 private:
  struct BlockPool {
    bool small = false;
    PoolIndex owner = 0;
    bool freeable = false;                   ///< private and held by nobody
    std::uint64_t searches = 0;              ///< get_free_blocks_call_count
    std::vector<FreeBlocks> free{};          ///< by stream
    std::vector<UnmappedBlocks> unmapped{};  ///< by stream
  };
  struct Search {
    Bytes size = 0;        ///< rounded
    Bytes alloc_size = 0;  ///< of the segment that would be obtained
    std::uint16_t pool = 0;
    StreamIndex stream = 0;
    bool expandable = false;
  };
  enum class Attempt { served, refused, rejected };

  // allocator.cpp: the path of a request
  Handle get_free_block(const Search& search);
  Attempt alloc_block(const Search& search, bool is_retry, Handle& found);
  Handle obtain_block(Search& search, Attempt& outcome);
  bool should_split(const Block& block, const Search& search) const;
  Handle split_front(Handle block, Bytes size);
  void leave_front_unaligned(Handle block, Bytes size);
  Placement alloc_found_block(Handle block, const Search& search, Bytes requested);
  void give_up(Handle block);
  void free_block(Handle block);
  Bytes try_merge(Handle into, Handle from);
  bool over_limit(const Search& search) const;
  bool captures(const Search& search) const;
  Handle try_mempool_fallback(Search& search);

  // release_blocks.cpp: giving memory back
  void garbage_collect_cached_blocks();
  std::vector<Handle> blocks_to_collect(Bytes target) const;
  bool release_available_cached_blocks(const Search& search);
  void release_cached_blocks();
  void release_blocks(BlockPool& pool);
  void release_private_pool(PoolIndex pool);
  void release_block(Handle block);
  /// Of one pool, or of all of them.
  void synchronize_and_free_events(std::optional<PoolIndex> pool = {});

  // expandable.cpp
  Handle try_allocate_expandable(const Search& search);
  Handle find_expandable_block(const Search& search);
  Handle new_reservation(const Search& search);
  std::uint32_t keep_reservation(const Reservation& reservation);
  bool map_block(Handle block, Bytes want);
  void unmap_block(Handle block);
  void destroy_reservation(Handle block);
  bool allocatable(Handle block) const;
  Bytes unmapped_behind(Handle block) const;

  // adopt.cpp: taking over a recorded state
  std::vector<std::uint64_t> ranks_by_age(const std::vector<SegmentInfo>& segments);
  Bytes granule_of(std::span<const SegmentInfo> runs) const;
  Bytes length_of_reservation(std::span<const SegmentInfo> runs, Bytes granule) const;
  Handle adopt_block(Block block, const BlockInfo& info, Handle before);
  Handle adopt_unmapped(Handle last, Address end);
  Handle append_block(Block block, Handle before);

  // blocks.cpp: blocks, pools and states
  Handle new_block(const Block& block);  ///< with a number of its own where objects have one
  Handle new_block(Block block, std::uint64_t rank);
  void drop_block(Handle block);
  std::uint64_t first_rank(Address segment);
  std::uint64_t rank_behind(std::uint64_t rank, Bytes distance) const;
  std::uint16_t pool_of(PoolIndex owner, bool small) {
    const std::size_t first = std::size_t{owner} * 2;
    if (pools_.size() < first + 2) add_pools(owner);
    return static_cast<std::uint16_t>(first + small);
  }
  void add_pools(PoolIndex up_to);
  FreeBlocks& free_set(const Block& block);
  UnmappedBlocks& unmapped_set(const Block& block);
  void insert_free(Handle block);
  void erase_free(Handle block);
  void count_reserved(const Block& block, Bytes amount, bool grows);

  Settings settings_;
  WatchedLimit max_split_size_;
  WatchedLimit max_non_split_rounding_size_;
  Release release_;
  Release::TieBreak tie_break_;
  std::optional<Bytes> allowed_memory_maximum_;
  Bytes total_allocated_memory_ = 0;
  std::vector<Block> blocks_;
  std::vector<Handle> unused_;
  std::vector<BlockPool> pools_;  ///< small and large pool of each pool index in turn
  std::vector<Reservation> reservations_;
  std::vector<std::uint32_t> unused_reservations_;
  std::map<std::uint64_t, Handle> pending_;  ///< by order of request
  std::uint64_t next_number_ = 0;
  std::uint64_t next_pending_ = 0;
  Statistics statistics_;
  std::vector<PoolId> pool_ids_;
  std::vector<PoolOptions> pool_options_;
};

/// The length of address space that a new expandable segment of this granule reserves on a device
/// of `total` bytes: the device and an eighth, or what expandable_segments_reserve asks for ("0.5"
/// of the device, or "8G"), if that is less.
Bytes reservation_size(const Settings& settings, Bytes total, Bytes granule);

/// Throws UsageError where the device lacks what the settings need.
std::unique_ptr<Allocator> make_allocator(const Settings& settings, const Release& release,
                                          const StrategyContext& context);

}  // namespace memreplay::torch

#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "core/address_table.hpp"
#include "core/units.hpp"
#include "strategy/parts/free_blocks.hpp"
#include "strategy/parts/largest_of.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy.hpp"
#include "strategy/torch/path_rules.hpp"
#include "strategy/torch/pool_order.hpp"
#include "strategy/torch/release.hpp"
#include "strategy/torch/settings.hpp"
#include "strategy/torch/statistics.hpp"

namespace memreplay::torch {

/// A limit that notes with which sizes it was compared: any other one between them would have
/// decided the same, so that a search over settings need not try it.
class WatchedLimit {
 public:
  explicit WatchedLimit(Bytes limit = UINT64_MAX) : limit_(limit) {}

  Bytes value() const { return limit_; }
  /// size < limit
  bool above(Bytes size) const {
    if (size < limit_) {
      largest_below_ = std::max(largest_below_, size);
      return true;
    }
    smallest_from_ = std::min(smallest_from_, size);
    return false;
  }
  /// As `above` does, for a size that is below every limit.
  void note_below(Bytes size) const {
    if (size > largest_below_) largest_below_ = size;
  }
  /// Every limit in (lowest, highest] would have given the same answers so far.
  Bytes lowest() const { return largest_below_; }
  Bytes highest() const { return smallest_from_; }

 private:
  Bytes limit_;
  mutable Bytes largest_below_ = 0;
  mutable Bytes smallest_from_ = UINT64_MAX;
};

/// No block: the number of one that is always in use, so that a block without a neighbour needs no
/// rule of its own.
inline constexpr Handle kNoBlock = 0;

/// A piece of a segment or of a reservation, linked with its neighbours in address order.
struct alignas(64) Block {
  Address address = 0;
  Bytes size = 0;
  Bytes requested = 0;
  /// Orders free blocks of equal size: the address up to 2.11, the number of the Block object in
  /// 2.12, that of its segment or reservation and then the address from 2.13 on.
  std::uint64_t rank = 0;
  /// Searches of the pool when it became free (gc_count_base); its key in pending_ while pending.
  std::uint64_t since = 0;
  Handle prev = kNoBlock;
  Handle next = kNoBlock;
  FreeBlocks::Place place = 0;    ///< where a free block is among those of its pool
  std::uint32_t reservation = 0;  ///< one above the index into reservations_; 0: plain segment
  std::uint32_t shelf = 0;        ///< index into shelves_
  BlockState state = BlockState::free;
  bool mapped = true;
  /// Completed by a synchronisation before the trace says so; the memory has another handle now.
  bool completed_early = false;

  bool is_split() const { return (prev | next) != kNoBlock; }
  bool expandable() const { return reservation != 0; }
};
static_assert(sizeof(Block) == 64);

/// Unmapped parts of reservations, by address.
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
  void free(Handle block, FreeOrigin) override;
  void request_free(Handle block) override;
  void complete_free(Handle block) override;
  void empty_cache() override;
  Abilities abilities() override { return {.pools = this, .adoption = this, .prefetch = this}; }
  void release_pool(PoolIndex pool, PoolCache cache) override;
  void adopt(const MemoryState& state, std::span<Handle> by_slot) override;
  StopPoint play(const Stretch& stretch) override;
  void prefetch(Handle block) const override {
    const Block& freed = blocks_[block];
    __builtin_prefetch(&blocks_[freed.prev]);
    __builtin_prefetch(&blocks_[freed.next]);
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
    std::uint64_t rank = 0;  ///< rank of the first byte
    bool recorded = false;   ///< taken over: this device reserved nothing for it
  };
  std::optional<Reservation> reservation_at(Address address) const;
  /// The search for a best fit passes over a free block that can still grow when the next one can
  /// reach less far.
  struct GrowingBlock {
    Address end = 0;    ///< end of what is mapped
    Bytes tail = 0;     ///< unmapped bytes after it
    Bytes longest = 0;  ///< the most with which the search ends at it
  };
  /// How the free block at `address` can grow, if it can: the search stays at it, or where the
  /// block at `before` comes first, goes on to it.
  std::optional<GrowingBlock> growing_block_at(Address address, Address before) const;

  /// Nobody holds the private pool any more, and it still has memory.
  bool freeable(PoolIndex pool) const {
    const std::size_t large = std::size_t{pool} * 2;
    return large < pools_.size() && pools_[large].freeable;
  }
  const Settings& settings() const { return settings_; }
  const Statistics& statistics() const { return statistics_; }
  /// max_split_size and max_non_split_rounding_size with what they were compared with. Another
  /// value between would have placed every block where this one did.
  const WatchedLimit& max_split_size() const { return max_split_size_; }
  const WatchedLimit& max_non_split_rounding_size() const { return max_non_split_rounding_size_; }
  /// Plain segments of large_segment_size were asked for; else another size would have done the
  /// same.
  bool needed_large_segments() const { return needed_large_segments_; }
  /// Sizes of the whole blocks that garbage collection would free, in its order, to reclaim
  /// `target` bytes.
  std::vector<Bytes> collectable(Bytes target) const;

 private:
  static constexpr int kPoolsExpand = 5;  ///< before 2.5 private pools had plain segments only

  using ShelfIndex = std::uint32_t;
  static constexpr ShelfIndex kNoShelf = 0;  ///< nothing is on it, nor on the next

  struct BlockPool {
    PoolIndex owner = 0;
    bool freeable = false;              ///< private and held by nobody
    std::uint64_t searches = 0;         ///< get_free_blocks_call_count
    std::vector<ShelfIndex> shelves{};  ///< by stream; kNoShelf: it had no segment yet
  };
  /// A pool's blocks of one stream. Aligned so that its number is shifted, not multiplied.
  struct alignas(1024) Shelf {
    std::uint16_t pool = 0;
    StreamIndex stream = 0;
    FreeBlocks free{};
    UnmappedBlocks unmapped{};
  };
  struct Search {
    Bytes size = 0;  ///< rounded
    std::uint16_t pool = 0;
    StreamIndex stream = 0;
    bool expandable = false;
  };
  enum class Attempt { served, refused, rejected };
  enum class Side { before, behind };

  // serving.hpp: the path of a request and of a free
  /// Serves from the lane that was turned to.
  template <class Rules>
  Service serve(Bytes size, Placement& placed);
  [[gnu::noinline]] Service serve_by_all_rules(Bytes size, StreamPool lane, Placement& placed);
  /// kNoHandle where none fits.
  template <class Rules>
  Handle get_free_block(const Search& search, ShelfIndex shelf);
  template <class Rules>
  bool should_split(const Block& block, const Search& search) const;
  template <class Rules>
  Handle split_front(Handle block, Bytes size);
  template <class Rules>
  Placement alloc_found_block(Handle block, const Search& search, Bytes requested,
                              FreeBlocks& free);
  template <class Rules>
  void take_back(Handle block);
  template <class Rules>
  void free_block(Handle block);
  /// With the neighbour on that side, where that is free.
  template <class Rules, Side kSide>
  bool try_merge(Handle into, FreeBlocks& free);
  template <class Rules>
  void insert_free(Handle block, FreeBlocks& free);
  template <class Rules>
  void insert_rest(Handle block, FreeBlocks& free);

  // play.cpp: many events at once
  template <class Rules, bool kHints>
  struct Player;
  template <class Rules>
  StopPoint play_by(const Stretch& stretch);
  bool has_limits() const;

  // allocator.cpp: what a request tries where no block fits
  [[gnu::noinline]] Service serve_from_device(Search search, Bytes requested, Placement& placed);
  Handle obtain_block(Search& search, Attempt& outcome);
  Attempt alloc_block(const Search& search, bool is_retry, Handle& found);
  Bytes allocation_size(const Search& search) const {
    return get_allocation_size(search.size, settings_.large_segment_size);
  }
  PoolId id_of(PoolIndex pool) const {
    return pool < pool_ids_.size() ? pool_ids_[pool] : PoolId{0, pool};
  }
  bool over_limit(Bytes more) const;
  bool captures(const Search& search) const;
  Handle try_mempool_fallback(Search& search);
  void leave_front_unaligned(Handle block, Bytes size);
  void count_oversize_free(const Block& block);
  void complete(Handle block);

  // release_blocks.cpp: giving memory back
  void garbage_collect_cached_blocks();
  std::vector<Handle> blocks_to_collect(Bytes target) const;
  bool release_available_cached_blocks(const Search& search);
  void release_cached_blocks();
  void release_blocks(BlockPool& pool);
  void release_private_pool(PoolIndex pool);
  void release_block(Handle block);
  /// Synchronises one pool, or all of them.
  void synchronize_and_free_events(std::optional<PoolIndex> pool = {});

  // expandable.cpp
  FreeBlocks::Cursor tightest_from(const FreeBlocks& free, FreeBlocks::Cursor at) const;
  FreeBlocks::Cursor plain_from(const FreeBlocks& free, FreeBlocks::Cursor at) const;
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
  /// The handle of a block that is not filled in yet.
  Handle take_handle() {
    if (unused_count_ == 0) [[unlikely]]
      add_handle();
    return unused_[--unused_count_];
  }
  [[gnu::noinline]] void add_handle();
  Handle new_block(const Block& block);
  void drop_block(Handle block) { unused_[unused_count_++] = block; }
  /// A new Block object has a number of its own where these have one.
  std::uint64_t rank_of_new(const Block& block) {
    return tie_break_ == Release::TieBreak::object_number ? next_number_++ : block.rank;
  }
  std::uint64_t first_rank(Address segment);
  std::uint64_t rank_behind(std::uint64_t rank, Bytes distance) const;
  std::uint16_t pool_of(PoolIndex owner, bool small) {
    const std::size_t first = std::size_t{owner} * 2;
    if (pools_.size() < first + 2) add_pools(owner);
    return static_cast<std::uint16_t>(first + small);
  }
  void add_pools(PoolIndex up_to);
  static bool is_small(std::uint16_t pool) { return pool % 2 != 0; }
  static bool is_small(const Block& block) { return block.shelf % 2 != 0; }
  /// kNoShelf where the pool has had no segment for the stream.
  ShelfIndex shelf_of(std::uint16_t pool, StreamIndex stream) const {
    const std::vector<ShelfIndex>& shelves = pools_[pool].shelves;
    return stream < shelves.size() ? shelves[stream] : kNoShelf;
  }
  /// The next requests are of this lane.
  [[gnu::noinline]] void turn_to(StreamPool lane);
  /// Where the pool's blocks of the stream go.
  ShelfIndex open_shelf(std::uint16_t pool, StreamIndex stream);
  const BlockPool& pool_of(const Block& block) const { return pools_[shelves_[block.shelf].pool]; }
  /// Visits the free blocks of each stream, in order.
  template <typename Visit>
  void for_each_shelf(const BlockPool& pool, const Visit& visit) const {
    for (const ShelfIndex shelf : pool.shelves) {
      if (shelf != kNoShelf) visit(shelves_[shelf].free);
    }
  }
  UnmappedBlocks& unmapped_set(const Block& block) { return shelves_[block.shelf].unmapped; }
  /// The free blocks among which the block lies, or will.
  FreeBlocks& free_set(const Block& block) { return shelves_[block.shelf].free; }
  [[gnu::always_inline]] void erase_free(Handle handle, FreeBlocks& free) {
    const Block& block = blocks_[handle];
    free.erase(handle, block.place, [&] { return FreeBlock{block.size, block.rank, handle}; });
  }
  void count_reserved(const Block& block, Bytes amount, bool grows);

  Settings settings_;
  WatchedLimit max_split_size_;
  WatchedLimit max_non_split_rounding_size_;
  bool needed_large_segments_ = false;
  Release release_;
  Release::TieBreak tie_break_;
  std::optional<Bytes> allowed_memory_maximum_;
  Bytes total_allocated_memory_ = 0;
  TableOf<Block> blocks_;
  std::vector<Handle> unused_;  ///< the first `unused_count_`; there is room for all blocks
  std::size_t unused_count_ = 0;
  std::vector<BlockPool> pools_;        ///< large and small pool of each pool index in turn
  std::vector<Shelf> shelves_;          ///< the large pool's shelves and the small pool's in turn
  mutable LargestOf largest_;           ///< free block of each shelf
  StreamPool lane_;                     ///< the last request's
  ShelfIndex lane_shelves_ = kNoShelf;  ///< its large one; the small one is the next
  std::vector<Reservation> reservations_;
  std::vector<std::uint32_t> unused_reservations_;
  std::map<std::uint64_t, Handle> pending_;  ///< by order of request
  std::uint64_t next_number_ = 0;
  std::uint64_t next_pending_ = 0;
  Statistics statistics_;
  std::vector<PoolId> pool_ids_;
  std::vector<PoolOptions> pool_options_;
  PoolOrder freeable_;    ///< graph_pools_freeable
  PoolOrder use_on_oom_;  ///< use_on_oom_pools
};

/// The length of address space that a new expandable segment of this granule reserves: `total`, the
/// bytes of the device, and an eighth, or what expandable_segments_reserve asks for ("0.5" times
/// the device, or "8G"), if that is less.
Bytes reservation_size(const Settings& settings, Bytes total, Bytes granule);

/// Throws UsageError where the device lacks what the settings need.
std::unique_ptr<Allocator> make_allocator(const Settings& settings, const Release& release,
                                          const StrategyContext& context);

}  // namespace memreplay::torch

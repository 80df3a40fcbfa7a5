#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "extensions/pinned/event_queue.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr Bytes kSegmentStep = 4 * kKiB;

struct PinnedOptions {
  Bytes segment = 0;
  Bytes round_up_to = UINT64_MAX;  ///< larger requests keep their size
  Bytes cache_up_to = UINT64_MAX;  ///< larger blocks go back when they are freed
};

struct PinnedBlock : PlacedBlock {
  Address region = 0;
  Bytes region_size = 0;  ///< 0: it lies in the reserve segment
  bool live = false;
};

/// PyTorch's Stat.
struct PinnedStat {
  std::int64_t current = 0;
  std::int64_t peak = 0;
  std::int64_t allocated = 0;
  std::int64_t freed = 0;

  void increase(std::int64_t amount) {
    current += amount;
    allocated += amount;
    peak = std::max(peak, current);
  }
  void decrease(std::int64_t amount) {
    current -= amount;
    freed += amount;
  }
  PinnedStat& operator+=(const PinnedStat& other) {
    current += other.current;
    peak += other.peak;
    allocated += other.allocated;
    freed += other.freed;
    return *this;
  }
};

unsigned class_of(Bytes size) { return static_cast<unsigned>(std::bit_width(size - 1)); }

/// O(1) a call; with a limit on rounding or caching also a look at the blocks of one class.
class Pinned final : public StrategyOn<Pinned>, private Prefetch {
 public:
  Pinned(const PinnedOptions& options, DeviceModel& device)
      : StrategyOn(device), options_(options) {}

  std::optional<Placement> allocate(const Request& request) override {
    process_events();
    const auto size = block_size(request.size);
    if (!size) return std::nullopt;
    const Bytes alignment = std::max<Bytes>(request.alignment, 1);
    Handle handle = take_cached(*size, alignment);
    if (handle == kNoHandle) handle = take_from_segment(*size, alignment);
    if (handle == kNoHandle) handle = take_from_host(*size, alignment);
    if (handle == kNoHandle) return std::nullopt;
    PinnedBlock& block = blocks_[handle];
    block.live = true;
    block.requested = request.size;
    live_bytes_ += block.size;
    ActiveStats& active = active_[class_of(block.size)];
    active.requests.increase(1);
    active.bytes.increase(static_cast<std::int64_t>(block.size));
    return Placement{block.address, block.size, handle};
  }

  void free(Handle handle, FreeOrigin) override {
    done_with(handle);
    put_back(handle);
  }
  void request_free(Handle handle) override { completions_.requested(handle); }
  void complete_free(Handle handle) override {
    done_with(handle);
    completions_.completed(handle);
  }

  /// What was freed of the reserve segment is lost: the pointer there moves up only.
  void empty_cache() override {
    process_events();
    for (std::vector<Handle>& cached : cached_) {
      for (const Handle block : cached) destroy(block);
      cached.clear();
    }
  }

  Abilities abilities() override { return {.prefetch = this}; }
  void prefetch(Handle block) const override { blocks_.prefetch(block); }

  FreeSpace free_space() const override {
    Bytes largest = segment_end_ - segment_top_;
    for (std::size_t size_class = cached_.size(); size_class-- > 0;) {
      if (cached_[size_class].empty()) continue;
      for (const Handle block : cached_[size_class]) {
        largest = std::max(largest, blocks_.blocks()[block].size);
        if (options_.round_up_to == UINT64_MAX && options_.cache_up_to == UINT64_MAX) break;
      }
      break;
    }
    return {.total = held_bytes_ - live_bytes_, .largest = largest};
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const std::vector<Handle>& cached : cached_) {
      for (const Handle handle : cached) {
        const PinnedBlock& block = blocks_.blocks()[handle];
        ranges.push_back({block.address, block.address + block.size});
      }
    }
    if (segment_top_ < segment_end_) ranges.push_back({segment_top_, segment_end_});
    return ranges;
  }

  /// The names of `torch.cuda.host_memory_stats()`, without its times.
  Testimony testimony() const override {
    ActiveStats active;
    for (const ActiveStats& of_class : active_) {
      active.requests += of_class.requests;
      active.bytes += of_class.bytes;
    }
    Counters counters;
    const auto add = [&](std::string_view name, const PinnedStat& stat) {
      counters.emplace_back(fmt::format("{}.current", name), stat.current);
      counters.emplace_back(fmt::format("{}.peak", name), stat.peak);
      counters.emplace_back(fmt::format("{}.allocated", name), stat.allocated);
      counters.emplace_back(fmt::format("{}.freed", name), stat.freed);
    };
    add("allocations", allocations_);
    add("allocated_bytes", allocated_bytes_);
    add("active_requests", active.requests);
    add("active_bytes", active.bytes);
    counters.emplace_back("num_host_alloc", allocations_.allocated);
    counters.emplace_back("num_host_free", allocations_.freed);
    for (std::size_t size_class = 0; size_class < active_.size(); ++size_class) {
      const std::int64_t requests = active_[size_class].requests.allocated;
      if (requests == 0) continue;
      counters.emplace_back(fmt::format("bucket_allocation.{}", size_class), requests);
    }
    return {.counters = std::move(counters)};
  }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    std::vector<PlacedBlock> live;
    if (segment_size_ != 0) {
      regions.push_back(
          {.address = segment_end_ - segment_size_, .size = segment_size_, .blocks = {}});
    }
    for (const PinnedBlock& block : blocks_.blocks()) {
      if (block.live) live.push_back(block);
      if (block.size == 0 || block.region_size == 0) continue;
      regions.push_back({.address = block.region, .size = block.region_size, .blocks = {}});
    }
    return tiled(std::move(regions), live);
  }

 private:
  struct ActiveStats {
    PinnedStat requests;
    PinnedStat bytes;
  };

  std::optional<Bytes> block_size(Bytes size) const {
    if (size > options_.round_up_to || size > options_.cache_up_to) return size;
    if (size > UINT64_MAX / 2 + 1) return std::nullopt;
    return std::bit_ceil(size);
  }

  Handle take_cached(Bytes size, Bytes alignment) {
    std::vector<Handle>& cached = cached_[class_of(size)];
    for (std::size_t i = cached.size(); i-- > 0;) {
      const Handle handle = cached[i];
      if (blocks_[handle].size < size || blocks_[handle].address % alignment != 0) continue;
      cached.erase(cached.begin() + static_cast<std::ptrdiff_t>(i));
      return handle;
    }
    return kNoHandle;
  }

  Handle take_from_segment(Bytes size, Bytes alignment) {
    if (options_.segment != 0 && !segment_asked_for_) {
      segment_asked_for_ = true;
      if (const auto region = obtain_aligned(*device_, options_.segment, kSegmentStep)) {
        segment_size_ = region->size;
        segment_top_ = region->aligned;
        segment_end_ = region->address + region->size;
        held_bytes_ += segment_size_;
      }
    }
    const Address at = round_up(segment_top_, alignment);
    const Bytes step = round_up(size, kSegmentStep);
    if (step < size || at < segment_top_ || at > segment_end_ || step > segment_end_ - at) {
      return kNoHandle;
    }
    segment_top_ = at + step;
    return add({{at, size, 0}, 0, 0, false});
  }

  Handle take_from_host(Bytes size, Bytes alignment) {
    const auto region = obtain_aligned(*device_, size, alignment);
    if (!region) return kNoHandle;
    held_bytes_ += region->size;
    return add({{region->aligned, size, 0}, region->address, region->size, false});
  }

  Handle add(const PinnedBlock& block) {
    allocations_.increase(1);
    allocated_bytes_.increase(static_cast<std::int64_t>(block.size));
    return blocks_.add(block);
  }

  void done_with(Handle handle) {
    PinnedBlock& block = blocks_[handle];
    block.live = false;
    live_bytes_ -= block.size;
  }

  void put_back(Handle handle) {
    const Bytes size = blocks_[handle].size;
    const unsigned size_class = class_of(size);
    active_[size_class].requests.decrease(1);
    active_[size_class].bytes.decrease(static_cast<std::int64_t>(size));
    size > options_.cache_up_to ? destroy(handle) : cached_[size_class].push_back(handle);
  }

  void destroy(Handle handle) {
    const PinnedBlock block = blocks_.remove(handle);
    allocations_.decrease(1);
    allocated_bytes_.decrease(static_cast<std::int64_t>(block.size));
    if (block.region_size == 0) return;
    held_bytes_ -= block.region_size;
    device_->give_back(block.region);
  }

  void process_events() {
    completions_.process([&](Handle block) { put_back(block); });
  }

  PinnedOptions options_;
  HandleTable<PinnedBlock> blocks_;  ///< live and cached ones
  std::array<std::vector<Handle>, 65>
      cached_;  ///< by class: free blocks, the last freed at the end
  EventQueue completions_;
  bool segment_asked_for_ = false;
  Bytes segment_size_ = 0;
  Address segment_top_ = 0;
  Address segment_end_ = 0;
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
  PinnedStat allocations_;
  PinnedStat allocated_bytes_;
  std::array<ActiveStats, 65> active_;  ///< by class
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  PinnedOptions options;
  options.segment = mebibytes_option(spec, "pinned_reserve_segment_size_mb", 0);
  options.round_up_to = mebibytes_option(spec, "pinned_max_round_threshold_mb", UINT64_MAX);
  options.cache_up_to = mebibytes_option(spec, "pinned_max_cached_size_mb", UINT64_MAX);
  return std::make_unique<Pinned>(options, context.device);
}

}  // namespace

/// PyTorch's allocator of pinned host memory, aten/src/ATen/core/CachingHostAllocator.h, with the
/// rules of 2.15. The device stands for the host: what it grants was asked of cudaHostAlloc.
StrategyInfo pinned_strategy() {
  return {.name = "pinned",
          .summary = "PyTorch's allocator of pinned host memory: powers of two, kept by class.",
          .options = {{"pinned_reserve_segment_size_mb", "MIB", "0",
                       "Take one segment of this size first and cut blocks off it, upward."},
                      {"pinned_max_round_threshold_mb", "MIB", "unlimited",
                       "Larger requests are not rounded up to a power of two."},
                      {"pinned_max_cached_size_mb", "MIB", "unlimited",
                       "Larger blocks are neither rounded up nor kept when they are freed."}},
          .make = make,
          .scales = true,
          .known_as = {{"pinnedmemory"}, {"cachinghostallocator"}}};
}

}  // namespace memreplay

#include <fmt/format.h>

#include <map>

#include "core/error.hpp"
#include "extensions/cuda_async/completion.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kNoBin = UINT32_MAX;

struct CubOptions {
  Bytes growth = 8;
  std::uint32_t min_bin = 3;
  std::uint32_t max_bin = 7;
  Bytes max_cached = 0;
};

/// A region, which is a block for as long as it is held.
struct Region {
  AlignedRegion place;  ///< size 0: the number is not in use
  Bytes size = 0;
  Bytes requested = 0;
  std::uint64_t freed = 0;  ///< when
  std::uint32_t bin = kNoBin;
  StreamIndex stream = 0;  ///< whose it was last
  bool cached = false;
  // Neighbours among the cached of the bin, and among those of the stream there.
  Handle older = kNoHandle, newer = kNoHandle;
  Handle older_of_stream = kNoHandle, newer_of_stream = kNoHandle;
};

struct Queue {
  Handle oldest = kNoHandle;
  Handle newest = kNoHandle;
};

/// cub's CachingDeviceAllocator (NVIDIA/cub, cub/util_allocator.cuh). O(1) a call beside the
/// device: among the cached blocks, those whose work is done are the oldest, so one look at the
/// oldest of the bin and one at the oldest of the stream find the first that serves.
class Cub final : public StrategyOn<Cub> {
 public:
  Cub(const CubOptions& options, const Completion& completion, DeviceModel& device)
      : StrategyOn(device), options_(options), completion_(completion) {
    for (Bytes size = 1; sizes_.size() <= options_.max_bin; size *= options_.growth) {
      sizes_.push_back(size);
      if (size > UINT64_MAX / options_.growth) break;
    }
    bins_.resize(sizes_.size());
  }

  std::optional<Placement> allocate(const Request& request) override {
    completion_.tick();
    const std::uint32_t bin = bin_of(request.size);
    const Bytes size = bin == kNoBin ? request.size : sizes_[bin];
    const Bytes alignment = std::max<Bytes>(request.alignment, 1);
    Handle block = bin == kNoBin ? kNoHandle : find(bin, request.stream, alignment);
    if (block != kNoHandle) {
      uncache(block);
      ++reuses_;
    } else {
      block = obtain(size, alignment);
      if (block == kNoHandle) return std::nullopt;
    }
    Region& given = regions_[block];
    given.requested = request.size;
    given.bin = bin;
    given.stream = request.stream;
    live_bytes_ += size;
    return Placement{given.place.aligned, size, block};
  }

  /// Whoever gives it back: the event is recorded on the stream that asked for the block.
  void free(Handle block, FreeOrigin) override {
    Region& freed = regions_[block];
    freed.freed = completion_.tick();
    live_bytes_ -= freed.size;
    if (freed.bin != kNoBin && freed.size <= options_.max_cached - cached_bytes_) {
      return cache(block);
    }
    ++syncs_;
    give_back(block);
  }

  void empty_cache() override {
    ++syncs_;
    free_all_cached();
  }

  FreeSpace free_space() const override {
    FreeSpace space{.total = held_bytes_ - live_bytes_};
    for (std::size_t bin = bins_.size(); bin-- > 0 && space.largest == 0;) {
      if (bins_[bin].all.oldest != kNoHandle) space.largest = sizes_[bin];
    }
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const Bin& bin : bins_) {
      for (Handle at = bin.all.oldest; at != kNoHandle; at = regions_[at].newer) {
        ranges.push_back(
            {regions_[at].place.aligned, regions_[at].place.aligned + regions_[at].size});
      }
    }
    return ranges;
  }

  StrategyUsage usage() const override { return {.oom_retries = retries_, .syncs = syncs_}; }

  Testimony testimony() const override {
    return {.counters = {{"cached_bytes", static_cast<std::int64_t>(cached_bytes_)},
                         {"cached_blocks", cached_blocks_},
                         {"reuses", reuses_}}};
  }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    std::vector<PlacedBlock> live;
    for (const Region& region : regions_) {
      if (region.place.size == 0) continue;
      regions.push_back({.address = region.place.address, .size = region.place.size, .blocks = {}});
      if (!region.cached) live.push_back({region.place.aligned, region.size, region.requested});
    }
    return tiled(std::move(regions), live);
  }

 private:
  struct Bin {
    Queue all;
    std::vector<Queue> of_stream;
  };

  std::uint32_t bin_of(Bytes size) const {
    // The lowest is looked at first: most requests are small.
    for (std::uint32_t bin = options_.min_bin; bin < sizes_.size(); ++bin) {
      if (size <= sizes_[bin]) return bin;
    }
    return kNoBin;
  }

  /// The first that was cached of those that the stream may use.
  Handle find(std::uint32_t bin, StreamIndex stream, Bytes alignment) const {
    const Handle oldest = bins_[bin].all.oldest;
    if (oldest == kNoHandle) return kNoHandle;
    const auto serves = [&](const Region& region) { return region.place.aligned % alignment == 0; };
    Handle own = kNoHandle;
    if (stream < bins_[bin].of_stream.size()) own = bins_[bin].of_stream[stream].oldest;
    while (own != kNoHandle && !serves(regions_[own])) own = regions_[own].newer_of_stream;
    for (Handle at = oldest; at != kNoHandle && completion_.done(regions_[at].freed);
         at = regions_[at].newer) {
      if (at == own || serves(regions_[at])) return at;
    }
    return own;
  }

  Handle obtain(Bytes size, Bytes alignment) {
    auto place = obtain_aligned(*device_, size, alignment);
    if (!place) {
      ++syncs_;
      ++retries_;
      free_all_cached();
      place = obtain_aligned(*device_, size, alignment);
    }
    if (!place) return kNoHandle;
    if (unused_.empty()) {
      unused_.push_back(static_cast<Handle>(regions_.size()));
      regions_.emplace_back();
    }
    const Handle block = unused_.back();
    unused_.pop_back();
    regions_[block] = {.place = *place, .size = size};
    held_bytes_ += place->size;
    return block;
  }

  void give_back(Handle block) {
    held_bytes_ -= regions_[block].place.size;
    device_->give_back(regions_[block].place.address);
    regions_[block] = {};
    unused_.push_back(block);
  }

  void free_all_cached() {
    completion_.synchronise();
    for (Bin& bin : bins_) {
      while (bin.all.oldest != kNoHandle) {
        const Handle block = bin.all.oldest;
        uncache(block);
        give_back(block);
      }
    }
  }

  void cache(Handle block) {
    Region& region = regions_[block];
    Bin& bin = bins_[region.bin];
    if (region.stream >= bin.of_stream.size()) bin.of_stream.resize(region.stream + 1);
    append<&Region::older, &Region::newer>(bin.all, block);
    append<&Region::older_of_stream, &Region::newer_of_stream>(bin.of_stream[region.stream], block);
    region.cached = true;
    cached_bytes_ += region.size;
    ++cached_blocks_;
  }

  void uncache(Handle block) {
    Region& region = regions_[block];
    Bin& bin = bins_[region.bin];
    remove<&Region::older, &Region::newer>(bin.all, block);
    remove<&Region::older_of_stream, &Region::newer_of_stream>(bin.of_stream[region.stream], block);
    region.cached = false;
    cached_bytes_ -= region.size;
    --cached_blocks_;
  }

  template <Handle Region::*Older, Handle Region::*Newer>
  void append(Queue& queue, Handle block) {
    regions_[block].*Older = queue.newest;
    regions_[block].*Newer = kNoHandle;
    (queue.newest == kNoHandle ? queue.oldest : regions_[queue.newest].*Newer) = block;
    queue.newest = block;
  }

  template <Handle Region::*Older, Handle Region::*Newer>
  void remove(Queue& queue, Handle block) {
    const Handle older = regions_[block].*Older;
    const Handle newer = regions_[block].*Newer;
    (older == kNoHandle ? queue.oldest : regions_[older].*Newer) = newer;
    (newer == kNoHandle ? queue.newest : regions_[newer].*Older) = older;
  }

  CubOptions options_;
  Completion completion_;
  std::vector<Bytes> sizes_;  ///< by bin
  std::vector<Bin> bins_;
  std::vector<Region> regions_;
  std::vector<Handle> unused_;
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
  Bytes cached_bytes_ = 0;
  std::int64_t cached_blocks_ = 0;
  std::int64_t reuses_ = 0;
  std::uint64_t syncs_ = 0;
  std::uint64_t retries_ = 0;
};

/// Three blocks of the largest bin but a byte, as the original has it; without a largest: no limit.
Bytes default_max_cached(const CubOptions& options, bool endless) {
  Bytes size = 3;
  for (std::uint32_t bin = 0; !endless && bin < options.max_bin; ++bin) {
    if (size > UINT64_MAX / options.growth) endless = true;
    size *= options.growth;
  }
  return endless ? UINT64_MAX : size - 1;
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  CubOptions options;
  const bool endless = find_option(spec, "max_bin") == "none";
  options.growth = whole_option(spec, "bin_growth", 8, 2);
  options.min_bin = static_cast<std::uint32_t>(whole_option(spec, "min_bin", 3, 0, 63));
  options.max_bin =
      endless ? 63 : static_cast<std::uint32_t>(whole_option(spec, "max_bin", 7, 0, 63));
  if (options.min_bin > options.max_bin) {
    throw UsageError("strategy 'cub': min_bin is above max_bin");
  }
  Bytes smallest = 1;
  for (std::uint32_t bin = 0; bin < options.min_bin; ++bin, smallest *= options.growth) {
    if (smallest > UINT64_MAX / options.growth) {
      throw UsageError("strategy 'cub': bin_growth^min_bin is no size");
    }
  }
  options.max_cached = find_option(spec, "max_cached") == "none"
                           ? UINT64_MAX
                           : size_option(spec, "max_cached", default_max_cached(options, endless));
  return std::make_unique<Cub>(options, Completion::from(spec), context.device);
}

}  // namespace

/// cub's caching allocator: powers of a number, cached by size and never split.
StrategyInfo cub_strategy() {
  return {
      .name = "cub",
      .summary = "cub's CachingDeviceAllocator: blocks of powers of a number, never split.",
      .options = {{"bin_growth", "N", "8", "Bins are its powers."},
                  {"min_bin", "N", "3", "The exponent of the smallest bin."},
                  {"max_bin", "N|none", "7",
                   "The exponent of the largest bin; longer blocks are exact and never cached."},
                  {"max_cached", "SIZE|none", "3*bin_growth^max_bin-1",
                   "Memory beyond this is returned to the device instead of cached."},
                  Completion::option()},
      .make = make,
      .known_as = {{"cachingdeviceallocator"}},
      .presets = {{"", 4}, {"bin_growth=2,min_bin=9,max_bin=27,max_cached=none", 4}}};
}

}  // namespace memreplay

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/error.hpp"
#include "extensions/host_malloc/actors.hpp"
#include "extensions/host_malloc/page_heap.hpp"
#include "extensions/host_malloc/size_classes.hpp"
#include "extensions/host_malloc/slots.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr Bytes kMostPages = 128;  ///< in a slab, unless one object needs more
constexpr std::uint32_t kNoSlab = UINT32_MAX;
constexpr std::uint64_t kNever = UINT64_MAX;

struct SizeClassOptions {
  Bytes q = 512;
  std::uint64_t g = 2;
  Bytes page = 2 * kMiB;
  Bytes small_max = kMiB;
  std::uint64_t slab_objects = 2;
  std::uint64_t arenas = 1;
  std::uint64_t tcache = 8;
  std::uint64_t decay = kNever;
  Bytes region = 32 * kMiB;
  Bytes region_max = 512 * kMiB;
};

struct Slot {
  std::uint32_t slab = kNoSlab;
  std::uint32_t number = 0;
};

struct SizeClassBlock : PlacedBlock {
  Slot slot;                 ///< no slab: a large block
  Handle range = kNoHandle;  ///< pages of a large block
  FreeOrigin owner;          ///< who asked for it
};

struct Slab {
  Handle range = kNoHandle;  ///< none: the number is not in use
  Address address = 0;
  std::uint32_t bin = 0;  ///< arena and class
  Slots slots;            ///< a taken one is live or in a cache
};

/// An allocation or a free costs O(1), slabs that fill or empty the search of their class.
class SizeClass final : public StrategyOn<SizeClass>, private Prefetch {
 public:
  SizeClass(const SizeClassOptions& options, DeviceModel& device)
      : StrategyOn(device),
        options_(options),
        classes_(options.q, static_cast<unsigned>(options.g)),
        class_count_(classes_.number(options.small_max) + 1),
        pages_(options.page),
        bins_(class_count_ * options.arenas),
        served_(class_count_),
        next_region_(options.region) {}

  std::optional<Placement> allocate(const Request& request) override {
    decay();
    const Bytes alignment = std::max<Bytes>(request.alignment, 1);
    Bytes size = classes_.rounded(request.size);
    if (size < request.size) return std::nullopt;
    if (alignment <= options_.page) {
      while (size <= options_.small_max && size % alignment != 0) size = classes_.rounded(size + 1);
      if (size <= options_.small_max) return allocate_small(request, size);
    }
    return allocate_large(request, round_up(size, options_.page), alignment);
  }

  void free(Handle handle, FreeOrigin giver) override {
    decay();
    const SizeClassBlock block = blocks_.remove(handle);
    giver = giver.or_owner(block.owner);
    live_bytes_ -= block.size;
    if (block.slot.slab == kNoSlab) return put_range(block.range);
    live_slots_ -= 1;
    if (options_.tcache == 0) return put_slot(block.slot);
    std::vector<Slot>& cache =
        cache_of(actors_.number(giver.stream, giver.thread), classes_.number(block.size));
    cache.push_back(block.slot);
    cached_bytes_ += block.size;
    if (cache.size() > options_.tcache) flush(cache, cache.size() / 2);
  }

  void empty_cache() override {
    for (auto& caches : caches_) {
      for (auto& cache : caches) flush(cache, cache.size());
    }
    for (std::uint32_t slab = 0; slab < slabs_.size(); ++slab) {
      if (slabs_[slab].range != kNoHandle && slabs_[slab].slots.taken() == 0) release_slab(slab);
    }
    pages_.give_back_idle_regions(*device_);
  }

  Abilities abilities() override { return {.prefetch = this}; }
  void prefetch(Handle block) const override { blocks_.prefetch(block); }

  FreeSpace free_space() const override {
    Bytes largest = pages_.largest_free();
    if (largest == 0) {
      for (const Slab& slab : slabs_) {
        if (slab.range != kNoHandle && !slab.slots.full()) {
          largest = std::max(largest, class_size(slab));
        }
      }
    }
    return {.total = pages_.held() - live_bytes_, .largest = largest};
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    pages_.add_free_ranges(ranges);
    for (const Slab& slab : slabs_) {
      if (slab.range == kNoHandle) continue;
      slab.slots.add_free_ranges(slab.address, class_size(slab), ranges);
    }
    for (const auto& caches : caches_) {
      for (const auto& cache : caches) {
        for (const Slot slot : cache) ranges.push_back(place(slabs_[slot.slab], slot.number));
      }
    }
    return ranges;
  }

  StrategyUsage usage() const override { return usage_; }

  Testimony testimony() const override {
    Counters counters = {{"slab_slots", slots_},
                         {"slab_slots_live", live_slots_},
                         {"slab_slots_peak", slots_peak_},
                         {"slab_slots_live_peak", live_slots_peak_},
                         {"thread_cache_bytes", static_cast<std::int64_t>(cached_bytes_)},
                         {"decayed_regions", decayed_},
                         {"large_blocks", large_.blocks},
                         {"internal_waste_of_large_bytes", large_.waste}};
    for (std::uint32_t number = 0; number < class_count_; ++number) {
      if (served_[number].blocks == 0) continue;
      const Bytes size = served_[number].size;
      counters.emplace_back(fmt::format("blocks_of_{}", size), served_[number].blocks);
      counters.emplace_back(fmt::format("internal_waste_of_{}_bytes", size), served_[number].waste);
    }
    return {.counters = std::move(counters)};
  }

  MemoryState memory_state() const override {
    return tiled(pages_.regions(),
                 std::vector<PlacedBlock>(blocks_.blocks().begin(), blocks_.blocks().end()));
  }

 private:
  struct Bin {
    std::uint32_t current = kNoSlab;
    std::uint32_t empty_slabs = 0;
  };
  struct Served {
    Bytes size = 0;
    std::int64_t blocks = 0;
    std::int64_t waste = 0;
  };
  struct Idle {
    std::uint64_t since = 0;
    Handle region = kNoHandle;
  };

  static FreeOrigin owner_of(const Request& request) { return {request.stream, request.thread}; }
  Bytes class_size(const Slab& slab) const { return served_[slab.bin % class_count_].size; }
  AddressRange place(const Slab& slab, std::uint32_t slot) const {
    const Address from = slab.address + slot * class_size(slab);
    return {from, from + class_size(slab)};
  }

  std::optional<Placement> allocate_small(const Request& request, Bytes size) {
    const std::uint32_t number = classes_.number(size);
    Served& served = served_[number];
    served.size = size;
    const std::uint32_t actor = actors_.number(request.stream, request.thread);
    std::vector<Slot>& cache = cache_of(actor, number);
    Slot slot;
    if (!cache.empty()) {
      slot = cache.back();
      cache.pop_back();
      cached_bytes_ -= size;
    } else {
      slot = take_slot(static_cast<std::uint32_t>(actor % options_.arenas) * class_count_ + number);
    }
    if (slot.slab == kNoSlab) return std::nullopt;
    ++served.blocks;
    served.waste += static_cast<std::int64_t>(size - request.size);
    live_bytes_ += size;
    live_slots_peak_ = std::max(live_slots_peak_, ++live_slots_);
    const Address address = slabs_[slot.slab].address + slot.number * size;
    return Placement{
        address, size,
        blocks_.add({{address, size, request.size}, slot, kNoHandle, owner_of(request)})};
  }

  /// The lowest free slot of the bin's current slab; when it has none the lowest slab that has one
  /// becomes current, or else a new one.
  Slot take_slot(std::uint32_t bin_number) {
    Bin& bin = bins_[bin_number];
    if (bin.current != kNoSlab && slabs_[bin.current].slots.full()) bin.current = kNoSlab;
    if (bin.current == kNoSlab) {
      const auto next = with_room_.lower_bound(Bytes{bin_number} << 9);
      if (!next.at_end() && with_room_[next].size == Bytes{bin_number} << 9) {
        bin.current = with_room_[next].block;
        with_room_.erase(next);
      } else {
        bin.current = new_slab(bin_number);
      }
    }
    if (bin.current == kNoSlab) return {};
    Slab& slab = slabs_[bin.current];
    if (slab.slots.taken() == 0) --bin.empty_slabs;
    const Slot slot{bin.current, slab.slots.take()};
    return slot;
  }

  void put_slot(Slot slot) {
    Slab& slab = slabs_[slot.slab];
    Bin& bin = bins_[slab.bin];
    if (slab.slots.full() && bin.current != slot.slab) with_room_.insert(entry_of(slot.slab));
    slab.slots.put(slot.number);
    if (slab.slots.taken() != 0) return;
    ++bin.empty_slabs;
    if (bin.empty_slabs > 1) release_slab(slot.slab);
  }

  FreeBlock entry_of(std::uint32_t slab) const {
    return {Bytes{slabs_[slab].bin} << 9, slabs_[slab].address, slab};
  }

  std::uint32_t new_slab(std::uint32_t bin) {
    const Bytes size = served_[bin % class_count_].size;
    const Bytes bytes = slab_bytes(size);
    const Handle range = take_pages(bytes, 1);
    if (range == kNoHandle) return kNoSlab;
    std::uint32_t number = static_cast<std::uint32_t>(slabs_.size());
    if (unused_slabs_.empty()) {
      slabs_.emplace_back();
    } else {
      number = unused_slabs_.back();
      unused_slabs_.pop_back();
    }
    const auto slots = static_cast<std::uint32_t>(bytes / size);
    slabs_[number] = {range, pages_.address(range), bin, Slots(slots)};
    slots_peak_ = std::max(slots_peak_, slots_ += slots);
    ++bins_[bin].empty_slabs;
    return number;
  }

  /// It is empty.
  void release_slab(std::uint32_t number) {
    Slab& slab = slabs_[number];
    Bin& bin = bins_[slab.bin];
    --bin.empty_slabs;
    if (bin.current == number) {
      bin.current = kNoSlab;
    } else {
      with_room_.erase(entry_of(number));
    }
    slots_ -= slab.slots.count();
    put_range(slab.range);
    slab.range = kNoHandle;
    unused_slabs_.push_back(number);
  }

  /// The fewest pages for the objects asked for of which at most an eighth is lost at the end.
  Bytes slab_bytes(Bytes size) const {
    Bytes bytes = round_up(size * options_.slab_objects, options_.page);
    for (; bytes <= kMostPages * options_.page; bytes += options_.page) {
      if (bytes % size <= bytes / 8) return bytes;
    }
    return std::max(kMostPages * options_.page, round_up(size, options_.page));
  }

  std::optional<Placement> allocate_large(const Request& request, Bytes size, Bytes alignment) {
    if (size < request.size || pages_.room_for(size, alignment) < size) return std::nullopt;
    const Handle range = take_pages(size, alignment);
    if (range == kNoHandle) return std::nullopt;
    ++large_.blocks;
    large_.waste += static_cast<std::int64_t>(size - request.size);
    live_bytes_ += size;
    const Address address = pages_.address(range);
    return Placement{address, size,
                     blocks_.add({{address, size, request.size}, {}, range, owner_of(request)})};
  }

  Handle take_pages(Bytes size, Bytes alignment) {
    Handle range = pages_.take(size, alignment);
    if (range != kNoHandle) return range;
    if (!pages_.grow_for(pages_.room_for(size, alignment), next_region_, usage_, *device_))
      return kNoHandle;
    next_region_ = std::min(next_region_ * 2, std::max(options_.region, options_.region_max));
    return pages_.take(size, alignment);
  }

  void put_range(Handle range) {
    const Handle free = pages_.put(range);
    if (options_.decay == kNever || !pages_.is_idle_region(free)) return;
    if (options_.decay == 0) {
      ++decayed_;
      return pages_.give_back(free, *device_);
    }
    idle_.push_back({events_, free});
    if (free >= idle_since_.size()) idle_since_.resize(free + 1);
    idle_since_[free] = events_;
  }

  /// Once an event: returns the regions that have been idle for long enough.
  void decay() {
    if (options_.decay == kNever) return;
    return_decayed();
    ++events_;
  }
  void return_decayed() {
    while (!idle_.empty() && events_ - idle_.front().since >= options_.decay) {
      const Idle idle = idle_.front();
      idle_.pop_front();
      if (!pages_.is_idle_region(idle.region) || idle_since_[idle.region] != idle.since) continue;
      pages_.give_back(idle.region, *device_);
      ++decayed_;
    }
  }

  std::vector<Slot>& cache_of(std::uint32_t actor, std::uint32_t number) {
    if (actor >= caches_.size()) caches_.resize(actor + 1);
    if (caches_[actor].empty()) caches_[actor].resize(class_count_);
    return caches_[actor][number];
  }

  /// The oldest of a thread cache go to their slabs.
  void flush(std::vector<Slot>& cache, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      cached_bytes_ -= class_size(slabs_[cache[i].slab]);
      put_slot(cache[i]);
    }
    cache.erase(cache.begin(), cache.begin() + static_cast<std::ptrdiff_t>(count));
  }

  SizeClassOptions options_;
  SizeClasses classes_;
  std::uint32_t class_count_;  ///< number of classes of small blocks
  PageHeap pages_;
  std::vector<Bin> bins_;  ///< by arena and class
  std::vector<Served> served_;
  Bytes next_region_;
  Actors actors_;
  std::vector<std::vector<std::vector<Slot>>> caches_;  ///< by actor and class, the oldest first
  std::vector<Slab> slabs_;
  std::vector<std::uint32_t> unused_slabs_;
  FreeBlocks with_room_;  ///< slabs that are not current, neither full, by bin
  HandleTable<SizeClassBlock> blocks_;
  std::uint64_t events_ = 0;
  std::deque<Idle> idle_;                  ///< regions that were wholly free at that event
  std::vector<std::uint64_t> idle_since_;  ///< by range
  StrategyUsage usage_;
  Served large_;
  Bytes live_bytes_ = 0;
  Bytes cached_bytes_ = 0;
  std::int64_t slots_ = 0;
  std::int64_t slots_peak_ = 0;
  std::int64_t live_slots_ = 0;
  std::int64_t live_slots_peak_ = 0;
  std::int64_t decayed_ = 0;
};

[[noreturn]] void refuse(std::string_view key, Bytes value, std::string_view expected) {
  throw UsageError(
      fmt::format("strategy 'size-class': {} is {}; expected {}", key, value, expected));
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  SizeClassOptions options;
  options.q = alignment_option(spec, "q", options.q);
  options.g = whole_option(spec, "g", options.g, 0, 6);
  options.page = alignment_option(spec, "page", options.page);
  options.small_max = size_option(spec, "small_max", options.small_max);
  options.slab_objects = whole_option(spec, "slab_objects", options.slab_objects, 1, 65536);
  options.arenas = whole_option(spec, "arenas", options.arenas, 1, 65536);
  options.tcache = whole_option(spec, "tcache", options.tcache);
  const auto decay = find_option(spec, "decay");
  if (decay && *decay != "never" && *decay != "-1") options.decay = whole_option(spec, "decay", 0);
  options.region = size_option(spec, "region", options.region);
  options.region_max = size_option(spec, "region_max", options.region_max);
  constexpr Bytes kMostSlots = 1 << 24;  // in a slab, which is 128 pages at most
  if (options.page > kMostSlots / 128 * options.q) {
    refuse("page", options.page,
           fmt::format("at most {}, for slabs of 16 Mi objects", kMostSlots / 128 * options.q));
  }
  if (options.small_max < options.q || options.small_max > kTiB) {
    refuse("small_max", options.small_max, "q to 1TiB");
  }
  const Bytes longest = std::max(options.region, options.region_max);
  if (longest > 1024 * kTiB) refuse("region", longest, "at most 1024TiB");
  options.region = round_up(options.region, options.page);
  options.region_max = round_up(options.region_max, options.page);
  return std::make_unique<SizeClass>(options, context.device);
}

}  // namespace

/// A model of jemalloc (jemalloc/jemalloc, doc/jemalloc.xml.in) for device memory: size classes in
/// slabs, caches per thread, arenas, large blocks in whole pages.
StrategyInfo size_class_strategy() {
  return {.name = "size-class",
          .summary = "jemalloc's size classes, slabs, arenas and thread caches, for device memory.",
          .options = {{"q", "SIZE", "512", "The quantum: spacing of the smallest classes."},
                      {"g", "N", "2", "Classes of each doubling above, as a power of two."},
                      {"page", "SIZE", "2MiB", "Slabs and large blocks are whole pages."},
                      {"small_max", "SIZE", "1MiB", "The largest block from a slab."},
                      {"slab_objects", "N", "2", "Objects that a slab has room for, at least."},
                      {"arenas", "N", "1", "Threads and streams share that many sets of slabs."},
                      {"tcache", "N", "8", "Objects of a class kept by each thread; 0: none."},
                      {"decay", "N|never", "never",
                       "Events after which a region that is wholly free is returned."},
                      {"region", "SIZE", "32MiB",
                       "The first region taken from the device; later ones double."},
                      {"region_max", "SIZE", "512MiB", "The largest region: doubling ends there."}},
          .make = make,
          .scales = true,
          .known_as = {{"jemalloc"}, {"slab"}, {"sizeclasses"}},
          .presets = {{"", 3}}};
}

}  // namespace memreplay

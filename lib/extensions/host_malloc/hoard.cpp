#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "extensions/host_malloc/actors.hpp"
#include "extensions/host_malloc/slots.hpp"
#include "strategy/parts/free_blocks.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr std::uint32_t kNoSuperblock = UINT32_MAX;
constexpr std::uint32_t kNoClass = UINT32_MAX;

struct HoardOptions {
  Bytes superblock = 2 * kMiB;
  Bytes q = 512;
  std::uint64_t emptiness = 8;  ///< 1/f
  std::uint64_t k = 2;
  std::uint64_t heaps = 16;
  Bytes local_max = kKiB;
  Bytes local_limit = 16 * kMiB;
  std::uint64_t keep = UINT64_MAX;  ///< wholly empty superblocks in the global heap
};

struct Object {
  std::uint32_t superblock = kNoSuperblock;
  std::uint32_t slot = 0;
};

struct HoardBlock : PlacedBlock {
  Object object;       ///< no superblock: a region of its own
  Address region = 0;  ///< address of such a region
  FreeOrigin owner;    ///< who asked for it
};

struct Superblock {
  Address region = 0;  ///< as the device gave it
  Address address = 0;
  std::uint32_t heap = 0;               ///< 0: the global one
  std::uint32_t size_class = kNoClass;  ///< none: wholly empty in the global heap, or not in use
  Slots slots;
};

/// Objects kept by a thread, the last freed of a class first.
struct LocalBuffer {
  std::vector<std::vector<Object>> objects;  ///< by class
  Bytes bytes = 0;
};

/// An allocation or a free costs O(1) beside the place of its superblock among those of its heap
/// and class; a superblock that moves, the same.
class Hoard final : public StrategyOn<Hoard>, private Prefetch {
 public:
  Hoard(const HoardOptions& options, DeviceModel& device) : StrategyOn(device), options_(options) {
    // Each is at most a fifth larger than the one before, where the quantum allows it.
    const Bytes last = options.superblock / 2;
    for (Bytes size = options.q; size < last;
         size = std::max(size + options.q, size * 6 / 5 / options.q * options.q)) {
      sizes_.push_back(size);
    }
    sizes_.push_back(last);
    bins_.resize((options.heaps + 1) * sizes_.size());
    for (Bytes units = 0; units < kDirectLookups; ++units) {
      lookup_.push_back(search_class((units + 1) * options.q));
    }
  }

  std::optional<Placement> allocate(const Request& request) override {
    const Bytes alignment = std::max<Bytes>(request.alignment, 1);
    const Bytes slack = alignment > options_.q ? alignment - options_.q : 0;
    if (alignment > options_.superblock || request.size > sizes_.back() ||
        request.size + slack > sizes_.back()) {
      return allocate_direct(request, alignment);
    }
    const std::uint32_t size_class = class_of(request.size + slack);
    const std::uint32_t actor = actors_.number(request.stream, request.thread);
    const Object object = take(actor, size_class);
    if (object.superblock == kNoSuperblock) return std::nullopt;
    const Address slot = address_of(object);
    const Address address = round_up(slot, alignment);
    const Bytes size = slot + sizes_[size_class] - address;
    live_bytes_ += size;
    return Placement{
        address, size,
        blocks_.add({{address, size, request.size}, object, 0, {request.stream, request.thread}})};
  }

  void free(Handle handle, FreeOrigin giver) override {
    const HoardBlock block = blocks_.remove(handle);
    giver = giver.or_owner(block.owner);
    live_bytes_ -= block.size;
    if (block.object.superblock == kNoSuperblock) {
      const auto region = direct_.find(block.region);
      held_bytes_ -= region->second;
      device_->give_back(region->first);
      direct_.erase(region);
      return;
    }
    const std::uint32_t size_class = superblocks_[block.object.superblock].size_class;
    const Bytes size = sizes_[size_class];
    if (size <= options_.local_max && size <= options_.local_limit) {
      LocalBuffer& local = local_of(actors_.number(giver.stream, giver.thread));
      if (local.bytes <= options_.local_limit - size) {
        local.bytes += size;
        local.objects[size_class].push_back(block.object);
        return;
      }
    }
    put(block.object);
  }

  /// Local buffers first; then what is wholly empty, in whichever heap.
  void empty_cache() override {
    for (LocalBuffer& local : locals_) {
      for (std::vector<Object>& objects : local.objects) {
        for (const Object object : objects) put(object);
        objects.clear();
      }
      local.bytes = 0;
    }
    for (std::uint32_t number = 0; number < superblocks_.size(); ++number) {
      Superblock& superblock = superblocks_[number];
      if (superblock.size_class == kNoClass || superblock.slots.taken() != 0) continue;
      move(number, 0);
    }
    return_empty(0);
  }

  Abilities abilities() override { return {.prefetch = this}; }
  void prefetch(Handle block) const override { blocks_.prefetch(block); }

  FreeSpace free_space() const override {
    Bytes largest = empty_.empty() ? 0 : options_.superblock;
    for (std::size_t number = sizes_.size(); largest == 0 && number-- > 0;) {
      for (std::size_t heap = 0; heap <= options_.heaps; ++heap) {
        if (!bins_[heap * sizes_.size() + number].with_room.empty()) largest = sizes_[number];
      }
    }
    return {.total = held_bytes_ - live_bytes_, .largest = largest};
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    empty_.for_each([&](const FreeBlock& free) {
      const Address from = superblocks_[free.block].address;
      ranges.push_back({from, from + options_.superblock});
    });
    for (const Superblock& superblock : superblocks_) {
      if (superblock.size_class == kNoClass) continue;
      superblock.slots.add_free_ranges(superblock.address, sizes_[superblock.size_class], ranges);
    }
    for (const LocalBuffer& local : locals_) {
      for (const std::vector<Object>& objects : local.objects) {
        for (const Object object : objects) {
          const Address from = address_of(object);
          ranges.push_back({from, from + sizes_[superblocks_[object.superblock].size_class]});
        }
      }
    }
    return ranges;
  }

  StrategyUsage usage() const override { return usage_; }

  /// Free bytes by the place where they lie; with the live ones they add up to what is held.
  Testimony testimony() const override {
    const auto number = [](Bytes bytes) { return static_cast<std::int64_t>(bytes); };
    Bytes local = 0;
    Bytes of_heap[2] = {0, empty_.size() * options_.superblock};  // threads, global
    for (const LocalBuffer& buffer : locals_) local += buffer.bytes;
    for (const Superblock& superblock : superblocks_) {
      if (superblock.size_class == kNoClass) continue;
      of_heap[superblock.heap == 0 ? 1 : 0] +=
          (superblock.slots.count() - superblock.slots.taken()) * sizes_[superblock.size_class];
    }
    const Bytes slack = held_bytes_ - live_bytes_ - local - of_heap[0] - of_heap[1];
    return {.counters = {{"local_buffer_bytes", number(local)},
                         {"thread_heap_bytes", number(of_heap[0])},
                         {"global_heap_bytes", number(of_heap[1])},
                         {"superblock_slack_bytes", number(slack)},
                         {"moved_to_global", moved_to_global_},
                         {"taken_from_global", taken_from_global_},
                         {"direct_allocs", direct_allocs_}}};
  }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    for (const auto& [address, size] : direct_) {
      regions.push_back({.address = address, .size = size, .blocks = {}});
    }
    for (const Superblock& superblock : superblocks_) {
      if (superblock.slots.count() == 0) continue;
      regions.push_back({.address = superblock.address, .size = options_.superblock, .blocks = {}});
    }
    return tiled(std::move(regions),
                 std::vector<PlacedBlock>(blocks_.blocks().begin(), blocks_.blocks().end()));
  }

 private:
  static constexpr Bytes kDirectLookups = 256;

  /// The superblocks of a heap and class.
  struct Bin {
    Bytes used = 0;        ///< u of the paper, in bytes of slots
    Bytes held = 0;        ///< a
    FreeBlocks with_room;  ///< the fullest last, of equals the lowest address last
  };

  std::uint32_t search_class(Bytes size) const {
    return static_cast<std::uint32_t>(std::lower_bound(sizes_.begin(), sizes_.end(), size) -
                                      sizes_.begin());
  }
  std::uint32_t class_of(Bytes size) const {
    const Bytes units = (size - 1) / options_.q;
    return units < lookup_.size() ? lookup_[units] : search_class(size);
  }
  Bin& bin_of(const Superblock& superblock) {
    return bins_[superblock.heap * sizes_.size() + superblock.size_class];
  }
  Address address_of(Object object) const {
    const Superblock& superblock = superblocks_[object.superblock];
    return superblock.address + object.slot * sizes_[superblock.size_class];
  }
  FreeBlock entry_of(std::uint32_t number) const {
    const Superblock& superblock = superblocks_[number];
    return {Bytes{superblock.slots.taken()} << 9, ~superblock.address, number};
  }
  LocalBuffer& local_of(std::uint32_t actor) {
    while (actor >= locals_.size()) {
      locals_.push_back({std::vector<std::vector<Object>>(sizes_.size()), 0});
    }
    return locals_[actor];
  }

  Object take(std::uint32_t actor, std::uint32_t size_class) {
    if (sizes_[size_class] <= options_.local_max) {
      LocalBuffer& local = local_of(actor);
      if (std::vector<Object>& objects = local.objects[size_class]; !objects.empty()) {
        const Object object = objects.back();
        objects.pop_back();
        local.bytes -= sizes_[size_class];
        return object;
      }
    }
    const auto heap = static_cast<std::uint32_t>(1 + actor % options_.heaps);
    Bin& bin = bins_[heap * sizes_.size() + size_class];
    if (bin.with_room.empty() && !take_superblock(heap, size_class)) return {};
    const auto fullest = bin.with_room.previous({});
    const std::uint32_t number = bin.with_room[fullest].block;
    bin.with_room.erase(fullest);
    Slots& slots = superblocks_[number].slots;
    const Object object{number, slots.take()};
    bin.used += sizes_[size_class];
    if (!slots.full()) bin.with_room.insert(entry_of(number));
    return object;
  }

  /// From the global heap the fullest of the class, or any that is empty; else from the device.
  bool take_superblock(std::uint32_t heap, std::uint32_t size_class) {
    const FreeBlocks& global = bins_[size_class].with_room;
    if (!global.empty()) {
      ++taken_from_global_;
      move(global[global.previous({})].block, heap);
      return true;
    }
    std::uint32_t number = kNoSuperblock;
    if (!empty_.empty()) {
      ++taken_from_global_;
      number = empty_[empty_.begin()].block;
      empty_.erase(empty_.begin());
    } else if (number = obtain_superblock(); number == kNoSuperblock) {
      return false;
    }
    Superblock& superblock = superblocks_[number];
    superblock.heap = heap;
    superblock.size_class = size_class;
    superblock.slots = Slots(static_cast<std::uint32_t>(options_.superblock / sizes_[size_class]));
    bin_of(superblock).held += bytes_of(superblock);
    bin_of(superblock).with_room.insert(entry_of(number));
    return true;
  }

  std::uint32_t obtain_superblock() {
    const auto region = obtain_aligned(*device_, options_.superblock, options_.q);
    if (!region) return kNoSuperblock;
    held_bytes_ += options_.superblock;
    std::uint32_t number = static_cast<std::uint32_t>(superblocks_.size());
    if (unused_.empty()) {
      superblocks_.emplace_back();
    } else {
      number = unused_.back();
      unused_.pop_back();
    }
    superblocks_[number] = {region->address, region->aligned, 0, kNoClass, Slots(1)};
    return number;
  }

  /// To the heap that owns it, which may then hold too much.
  void put(Object object) {
    Superblock& superblock = superblocks_[object.superblock];
    Bin& bin = bin_of(superblock);
    if (!superblock.slots.full()) bin.with_room.erase(entry_of(object.superblock));
    superblock.slots.put(object.slot);
    bin.with_room.insert(entry_of(object.superblock));
    bin.used -= sizes_[superblock.size_class];
    if (superblock.heap == 0) {
      if (superblock.slots.taken() == 0) move(object.superblock, 0);
    } else {
      while (holds_too_much(bin) && !bin.with_room.empty()) {
        ++moved_to_global_;
        move(bin.with_room[bin.with_room.begin()].block, 0);
      }
    }
    return_empty(options_.keep);
  }

  bool holds_too_much(const Bin& bin) const {
    const Bytes free = bin.held - bin.used;
    return free > options_.k * options_.superblock && free * options_.emptiness > bin.held;
  }
  Bytes bytes_of(const Superblock& superblock) const {
    return superblock.slots.count() * sizes_[superblock.size_class];
  }

  /// It has room.
  void move(std::uint32_t number, std::uint32_t heap) {
    Superblock& superblock = superblocks_[number];
    const Bytes used = superblock.slots.taken() * sizes_[superblock.size_class];
    Bin& from = bin_of(superblock);
    from.with_room.erase(entry_of(number));
    from.used -= used;
    from.held -= bytes_of(superblock);
    superblock.heap = heap;
    if (heap == 0 && used == 0) {
      superblock.size_class = kNoClass;
      empty_.insert({0, superblock.address, number});
      return;
    }
    Bin& to = bin_of(superblock);
    to.with_room.insert(entry_of(number));
    to.used += used;
    to.held += bytes_of(superblock);
  }

  /// Returns wholly empty superblocks of the global heap, the highest first, but for so many.
  void return_empty(std::uint64_t but) {
    while (empty_.size() > but) {
      const auto highest = empty_.previous({});
      const std::uint32_t number = empty_[highest].block;
      empty_.erase(highest);
      held_bytes_ -= options_.superblock;
      device_->give_back(superblocks_[number].region);
      superblocks_[number] = {};
      unused_.push_back(number);
    }
  }

  std::optional<Placement> allocate_direct(const Request& request, Bytes alignment) {
    const Bytes size = round_up(request.size, options_.q);
    if (size < request.size) return std::nullopt;
    auto region = obtain_aligned(*device_, size, alignment);
    if (!region && !empty_.empty()) {
      ++usage_.oom_retries;
      return_empty(0);
      region = obtain_aligned(*device_, size, alignment);
    }
    if (!region) return std::nullopt;
    direct_.emplace(region->address, region->size);
    held_bytes_ += region->size;
    live_bytes_ += size;
    ++direct_allocs_;
    return Placement{region->aligned, size,
                     blocks_.add({{region->aligned, size, request.size},
                                  {},
                                  region->address,
                                  {request.stream, request.thread}})};
  }

  HoardOptions options_;
  std::vector<Bytes> sizes_;  ///< sizes of the classes
  std::vector<std::uint32_t> lookup_;
  std::vector<Bin> bins_;  ///< by heap and class; the global heap first
  FreeBlocks empty_;       ///< wholly empty superblocks of the global heap, by address
  Actors actors_;
  std::vector<LocalBuffer> locals_;  ///< by actor
  std::vector<Superblock> superblocks_;
  std::vector<std::uint32_t> unused_;
  std::map<Address, Bytes> direct_;  ///< regions of one block
  HandleTable<HoardBlock> blocks_;
  StrategyUsage usage_;
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
  std::int64_t moved_to_global_ = 0;
  std::int64_t taken_from_global_ = 0;
  std::int64_t direct_allocs_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  HoardOptions options;
  options.superblock = alignment_option(spec, "superblock", options.superblock);
  options.q = alignment_option(spec, "q", options.q);
  if (options.superblock > options.q << 24) {
    throw UsageError(
        fmt::format("strategy 'hoard': superblock is {}; expected at most {}, for 16 Mi "
                    "objects",
                    options.superblock, options.q << 24));
  }
  options.emptiness = whole_option(spec, "emptiness", options.emptiness, 2, 1024);
  options.k = whole_option(spec, "k", options.k, 0, 65536);
  options.heaps = whole_option(spec, "heaps", options.heaps, 1, 4096);
  options.local_max = size_option(spec, "local_max", options.local_max);
  options.local_limit = size_option(spec, "local_limit", options.local_limit);
  const auto keep = find_option(spec, "keep");
  if (keep && *keep != "all") options.keep = whole_option(spec, "keep", 0);
  const auto refuse = [](std::string_view key, Bytes value, std::string_view expected) {
    throw UsageError(fmt::format("strategy 'hoard': {} is {}; expected {}", key, value, expected));
  };
  if (options.superblock > kTiB) refuse("superblock", options.superblock, "at most 1TiB");
  if (options.q > options.superblock / 2) refuse("q", options.q, "at most half of superblock");
  return std::make_unique<Hoard>(options, context.device);
}

}  // namespace

/// A model of Hoard (Berger et al., ASPLOS 2000; emeryberger/Hoard, src/include/hoard) for device
/// memory: heaps of superblocks that give the emptiest one up when they hold too much.
StrategyInfo hoard_strategy() {
  return {.name = "hoard",
          .summary = "Hoard's heaps of superblocks, returned to a common heap, for device memory.",
          .options =
              {{"superblock", "SIZE", "2MiB",
                "Memory taken from the device at once; blocks above half of it are direct."},
               {"q", "SIZE", "512", "The smallest class; the others are its multiples, 1.2 apart."},
               {"emptiness", "N", "8", "A heap gives up superblocks when 1/N of it is free …"},
               {"k", "N", "2", "… and as much as this many superblocks."},
               {"heaps", "N", "16", "Threads and streams share that many heaps."},
               {"local_max", "SIZE", "1KiB", "The largest block that a thread keeps for itself."},
               {"local_limit", "SIZE", "16MiB", "Bytes of such blocks that it keeps."},
               {"keep", "N|all", "all", "Empty superblocks that the global heap does not return."}},
          .make = make,
          .scales = true,
          .presets = {{"", 3}}};
}

}  // namespace memreplay

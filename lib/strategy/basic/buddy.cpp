#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>

#include "core/error.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/index_set.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct BuddyOptions {
  Bytes min = 512;
  Bytes max = kGiB;
  bool grow = true;
  bool release = false;
  bool direct = true;
};

constexpr unsigned kDirect = UINT32_MAX;  ///< the order of a block that is a region of its own

struct BuddyBlock : PlacedBlock {
  std::uint32_t region = 0;
  std::uint32_t order = 0;
  /// Counts blocks of its order from the start of the region; direct: the address of the region.
  std::uint64_t index = 0;
};

/// An allocation or a free costs O(orders) bitmap steps; a region that goes, O(regions).
class Buddy final : public StrategyOn<Buddy>, private Prefetch {
 public:
  Buddy(const BuddyOptions& options, DeviceModel& device)
      : StrategyOn(device),
        options_(options),
        top_order_(static_cast<unsigned>(std::countr_zero(options.max / options.min))),
        with_free_(top_order_ + 1) {}

  std::optional<Placement> allocate(const Request& request) override {
    while (true) {
      // A new region may begin at an address that is less aligned than those before.
      const Bytes needed = bytes_needed(request);
      if (needed > options_.max) return allocate_direct(request);
      const unsigned order = order_of(needed);
      if (const std::uint64_t orders = free_orders_ >> order; orders != 0) {
        return take(request, order, order + static_cast<unsigned>(std::countr_zero(orders)));
      }
      if (!grow()) {
        waste_at_oom_ = held_bytes_ - live_bytes_;  // all of it lies in smaller blocks
        return std::nullopt;
      }
    }
  }

  void free(Handle handle, FreeOrigin) override {
    const BuddyBlock block = blocks_.remove(handle);
    live_bytes_ -= block.size;
    if (block.order == kDirect) {
      const auto region = direct_.find(block.index);
      held_bytes_ -= region->second;
      device_->give_back(region->first);
      direct_.erase(region);
      return;
    }
    waste_ -= block.size - block.requested;
    unsigned order = block.order;
    std::uint64_t index = block.index;
    std::vector<IndexSet>& free = regions_[block.region].free;
    for (; order < top_order_ && free[order].contains(index ^ 1); ++order, index >>= 1) {
      erase_free(block.region, order, index ^ 1);
      ++merges_;
    }
    insert_free(block.region, order, index);
    if (order == top_order_ && options_.release && by_age_.size() > 1) release(block.region);
  }

  void empty_cache() override {
    for (std::size_t age = by_age_.size(); age-- > 0;) {
      if (regions_[by_age_[age]].free[top_order_].contains(0)) release(by_age_[age]);
    }
  }

  Abilities abilities() override { return {.prefetch = this}; }
  void prefetch(Handle block) const override { blocks_.prefetch(block); }

  FreeSpace free_space() const override {
    const Bytes largest =
        free_orders_ == 0 ? 0 : options_.min << (std::bit_width(free_orders_) - 1);
    return {.total = held_bytes_ - live_bytes_, .largest = largest};
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    for (const std::uint32_t number : by_age_) {
      const Region& region = regions_[number];
      for (unsigned order = 0; order <= top_order_; ++order) {
        region.free[order].for_each([&](std::uint64_t index) {
          const Address from = region.address + (index << order) * options_.min;
          ranges.push_back({from, from + (options_.min << order)});
        });
      }
    }
    return ranges;
  }

  Testimony testimony() const override {
    Counters counters = {{"splits", splits_},
                         {"merges", merges_},
                         {"direct_allocs", direct_allocs_},
                         {"external_waste_at_oom_bytes", static_cast<std::int64_t>(waste_at_oom_)},
                         {"internal_waste_peak_bytes", static_cast<std::int64_t>(waste_peak_)}};
    // Over all blocks ever served from blocks of that many bytes.
    for (unsigned order = 0; order <= top_order_; ++order) {
      if (served_[order].blocks == 0) continue;
      const Bytes size = options_.min << order;
      counters.emplace_back(fmt::format("blocks_of_{}", size), served_[order].blocks);
      counters.emplace_back(fmt::format("internal_waste_of_{}_bytes", size), served_[order].waste);
    }
    return {.counters = std::move(counters)};
  }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    for (const auto& [address, size] : direct_) {
      regions.push_back({.address = address, .size = size, .blocks = {}});
    }
    for (const std::uint32_t number : by_age_) {
      regions.push_back({.address = regions_[number].address, .size = options_.max, .blocks = {}});
    }
    return tiled(std::move(regions),
                 std::vector<PlacedBlock>(blocks_.blocks().begin(), blocks_.blocks().end()));
  }

 private:
  struct Region {
    Address address = 0;
    std::uint32_t age = 0;       ///< its place in `by_age_`
    std::vector<IndexSet> free;  ///< by order
  };
  struct Served {
    std::int64_t blocks = 0;
    std::int64_t waste = 0;
  };

  unsigned order_of(Bytes size) const {
    if (size <= options_.min) return 0;
    return static_cast<unsigned>(std::bit_width(size - 1) - std::countr_zero(options_.min));
  }

  /// With every region at a multiple of the alignment, a block at least as large as it is aligned;
  /// otherwise the block has room to move up. Saturates.
  Bytes bytes_needed(const Request& request) const {
    const Bytes alignment = std::max<Bytes>(request.alignment, 1);
    if ((bases_ & (alignment - 1)) == 0) return std::max(request.size, alignment);
    return request.size > UINT64_MAX - alignment ? UINT64_MAX : request.size + alignment - 1;
  }

  Placement take(const Request& request, unsigned order, unsigned from_order) {
    const std::uint32_t number = by_age_[with_free_[from_order].first()];
    Region& region = regions_[number];
    std::uint64_t index = region.free[from_order].first();
    erase_free(number, from_order, index);
    splits_ += from_order - order;
    for (unsigned half = from_order; half-- > order;) {
      index <<= 1;
      insert_free(number, half, index + 1);
    }
    const Address start = region.address + (index << order) * options_.min;
    const Address address = round_up(start, std::max<Bytes>(request.alignment, 1));
    const Bytes size = start + (options_.min << order) - address;
    live_bytes_ += size;
    waste_ += size - request.size;
    waste_peak_ = std::max(waste_peak_, waste_);
    ++served_[order].blocks;
    served_[order].waste += static_cast<std::int64_t>(size - request.size);
    return {address, size, blocks_.add({{address, size, request.size}, number, order, index})};
  }

  std::optional<Placement> allocate_direct(const Request& request) {
    const Bytes size = round_up(request.size, options_.min);
    if (!options_.direct || size < request.size) return std::nullopt;
    const auto region = obtain_aligned(*device_, size, std::max<Bytes>(request.alignment, 1));
    if (!region) {
      waste_at_oom_ = held_bytes_ - live_bytes_;
      return std::nullopt;
    }
    direct_.emplace(region->address, region->size);
    held_bytes_ += region->size;
    live_bytes_ += size;
    ++direct_allocs_;
    return Placement{
        region->aligned, size,
        blocks_.add({{region->aligned, size, request.size}, 0, kDirect, region->address})};
  }

  bool grow() {
    if (!options_.grow && !by_age_.empty()) return false;
    const auto address = device_->obtain(options_.max);
    if (!address) return false;
    std::uint32_t number = static_cast<std::uint32_t>(regions_.size());
    if (unused_.empty()) {
      regions_.emplace_back();
    } else {
      number = unused_.back();
      unused_.pop_back();
    }
    regions_[number] = {*address, static_cast<std::uint32_t>(by_age_.size()),
                        std::vector<IndexSet>(top_order_ + 1)};
    by_age_.push_back(number);
    bases_ |= *address;
    held_bytes_ += options_.max;
    insert_free(number, top_order_, 0);
    return true;
  }

  /// Returns a region that is one free block.
  void release(std::uint32_t number) {
    erase_free(number, top_order_, 0);
    held_bytes_ -= options_.max;
    device_->give_back(regions_[number].address);
    by_age_.erase(by_age_.begin() + regions_[number].age);
    regions_[number].free.clear();
    unused_.push_back(number);
    bases_ = 0;
    with_free_.assign(top_order_ + 1, {});
    for (std::uint32_t age = 0; age < by_age_.size(); ++age) {
      Region& region = regions_[by_age_[age]];
      region.age = age;
      bases_ |= region.address;
      for (unsigned order = 0; order <= top_order_; ++order) {
        if (!region.free[order].empty()) with_free_[order].insert(age);
      }
    }
  }

  void insert_free(std::uint32_t number, unsigned order, std::uint64_t index) {
    Region& region = regions_[number];
    if (region.free[order].empty()) {
      with_free_[order].insert(region.age);
      free_orders_ |= std::uint64_t{1} << order;
    }
    region.free[order].insert(index);
  }

  void erase_free(std::uint32_t number, unsigned order, std::uint64_t index) {
    Region& region = regions_[number];
    region.free[order].erase(index);
    if (!region.free[order].empty()) return;
    with_free_[order].erase(region.age);
    if (with_free_[order].empty()) free_orders_ &= ~(std::uint64_t{1} << order);
  }

  BuddyOptions options_;
  unsigned top_order_;
  std::vector<Region> regions_;        ///< by number; released ones are empty
  std::vector<std::uint32_t> unused_;  ///< numbers
  std::vector<std::uint32_t> by_age_;  ///< numbers in the order of creation
  std::vector<IndexSet> with_free_;    ///< by order: ages of the regions with a free block of it
  std::uint64_t free_orders_ = 0;      ///< a bit for each order of which some block is free
  Address bases_ = 0;                  ///< all addresses of regions, or-ed
  std::map<Address, Bytes> direct_;    ///< regions of one block
  HandleTable<BuddyBlock> blocks_;
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
  Bytes waste_ = 0;
  Bytes waste_peak_ = 0;
  Bytes waste_at_oom_ = 0;
  std::int64_t splits_ = 0;
  std::int64_t merges_ = 0;
  std::int64_t direct_allocs_ = 0;
  std::array<Served, 64> served_;  ///< by order
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  BuddyOptions options;
  options.min = alignment_option(spec, "min", options.min);
  options.max = alignment_option(spec, "max", options.max);
  options.grow = bool_option(spec, "grow", options.grow);
  options.release = bool_option(spec, "release", options.release);
  options.direct = bool_option(spec, "direct", options.direct);
  if (options.min > options.max) {
    throw UsageError(fmt::format("strategy 'buddy': min is {} and max {}; expected min <= max",
                                 options.min, options.max));
  }
  // A region that no device of this size could give would serve nothing.
  if (context.capacity) {
    const Bytes room = std::bit_floor(context.device.free_bytes());
    options.max = std::max(options.min, std::min(options.max, room));
  }
  return std::make_unique<Buddy>(options, context.device);
}

}  // namespace

/// The binary buddy system (Knowlton 1965; Knuth, The Art of Computer Programming 1, 2.5).
StrategyInfo buddy_strategy() {
  return {.name = "buddy",
          .summary = "Binary buddies: blocks are powers of two, halved and joined again.",
          .options = {{"min", "SIZE", "512", "The smallest block, a power of two."},
                      {"max", "SIZE", "1GiB",
                       "The largest block and size of a region; no more than the device has free."},
                      {"grow", "true|false", "true", "Take more than one region."},
                      {"release", "true|false", "false",
                       "Return a region that is wholly free at once, but for the last one."},
                      {"direct", "true|false", "true",
                       "What is larger than max gets a region of its own; false: out of memory."}},
          .make = make,
          .scales = true,
          .known_as = {{"buddysystem"}, {"binarybuddy"}, {"buddyallocator"}},
          .takes_at_once = "max",
          .presets = {{"", 3, 3}}};
}

}  // namespace memreplay

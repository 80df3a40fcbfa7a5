#include <algorithm>
#include <array>
#include <bit>

#include "core/error.hpp"
#include "extensions/pinned/event_queue.hpp"
#include "strategy/parts/chunk_table.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct PinnedBuddyOptions {
  Bytes block = kGiB;
  std::uint64_t count = 8;
  Bytes threshold = 4 * kMiB;
};

/// A part of a warm block, or a block of its own with what its alignment left beside it.
struct Part : Chunk {
  Address base = 0;  ///< start of the warm block; buddies are found by the distance from it
  bool warm = false;
  bool listed = false;         ///< among the free parts of warm blocks
  Handle earlier = kNoHandle;  ///< in the list of free parts of its size
  Handle later = kNoHandle;
};

/// O(log size) a call for halving and joining; blocks of the host O(log regions).
class PinnedBuddy final : public StrategyOn<PinnedBuddy>, private Prefetch {
 public:
  PinnedBuddy(const PinnedBuddyOptions& options, DeviceModel& device)
      : StrategyOn(device), options_(options) {
    last_.fill(kNoHandle);
  }

  std::optional<Placement> allocate(const Request& request) override {
    process_events();
    if (!warmed_up_) warm_up();
    if (request.size > UINT64_MAX / 2 + 1) return std::nullopt;
    const Bytes size = std::bit_ceil(request.size);
    const Bytes alignment = std::max<Bytes>(request.alignment, 1);
    Handle handle = take_exact(size, alignment);
    if (handle == kNoHandle && size > options_.threshold) handle = take_warm(size, alignment);
    if (handle == kNoHandle) handle = take_from_host(size, alignment);
    if (handle == kNoHandle) return std::nullopt;
    Part& part = parts_[handle];
    part.in_use = true;
    part.requested = request.size;
    live_bytes_ += part.size;
    return Placement{part.address, part.size, handle};
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

  /// A warm block of which a part is in use stays whole; the others are taken again on demand.
  void empty_cache() override {
    process_events();
    for (std::vector<Handle>& cached : cached_) {
      for (const Handle block : cached) return_host_block(block);
      cached.clear();
    }
    const unsigned whole = order_of(options_.block);
    for (Handle part = last_[whole]; part != kNoHandle; part = last_[whole]) {
      unlink(part);
      return_region(part);
      --warm_held_;
      ++warm_returned_;
      ++warm_away_;
    }
  }

  Abilities abilities() override { return {.prefetch = this}; }
  void prefetch(Handle block) const override { __builtin_prefetch(&parts_[block]); }

  FreeSpace free_space() const override {
    Bytes largest = orders_ == 0 ? 0 : std::bit_floor(orders_);
    for (std::size_t order = cached_.size(); order-- > 0;) {
      if (cached_[order].empty()) continue;
      largest = std::max(largest, Bytes{1} << order);
      break;
    }
    return {.total = held_bytes_ - live_bytes_, .largest = largest};
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges;
    const auto add = [&](Handle part) {
      ranges.push_back({parts_[part].address, parts_[part].address + parts_[part].size});
    };
    for (const Handle last : last_) {
      for (Handle part = last; part != kNoHandle; part = parts_[part].earlier) add(part);
    }
    for (const std::vector<Handle>& cached : cached_) {
      for (const Handle block : cached) add(block);
    }
    return ranges;
  }

  Testimony testimony() const override {
    return {.counters = {{"warm_blocks", warm_held_},
                         {"warm_returned", warm_returned_},
                         {"warm_taken_again", warm_again_},
                         {"splits", splits_},
                         {"merges", merges_},
                         {"num_host_alloc", host_allocs_},
                         {"num_host_free", host_frees_}}};
  }

  MemoryState memory_state() const override { return parts_.memory_state(); }

 private:
  static unsigned order_of(Bytes size) { return static_cast<unsigned>(std::countr_zero(size)); }

  /// Before the first request. A block that the host refuses is done without.
  void warm_up() {
    warmed_up_ = true;
    for (std::uint64_t i = 0; i < options_.count; ++i) {
      if (!take_warm_block()) return;
    }
  }

  bool take_warm_block() {
    const auto address = device_->obtain(options_.block);
    if (!address) return false;
    bases_ |= *address;
    const Handle part = add_region(*address, options_.block, true);
    link(part);
    ++warm_held_;
    return true;
  }

  Handle take_exact(Bytes size, Bytes alignment) {
    std::vector<Handle>& cached = cached_[order_of(size)];
    for (std::size_t i = cached.size(); i-- > 0;) {
      const Handle block = cached[i];
      if (parts_[block].address % alignment != 0) continue;
      cached.erase(cached.begin() + static_cast<std::ptrdiff_t>(i));
      return block;
    }
    return kNoHandle;
  }

  /// The last freed of the smallest parts that are large enough, halved down to the size.
  Handle take_warm(Bytes size, Bytes alignment) {
    size = std::max(size, alignment);
    if (size > options_.block) return kNoHandle;
    if ((orders_ & -size) == 0 && warm_away_ != 0 && take_warm_block()) {
      --warm_away_;
      ++warm_again_;
    }
    if ((orders_ & -size) == 0 || (bases_ & (alignment - 1)) != 0) return kNoHandle;
    const Handle part = last_[order_of(orders_ & -size)];
    unlink(part);
    while (parts_[part].size > size) {
      link(parts_.split(part, parts_[part].size / 2));
      ++splits_;
    }
    return part;
  }

  Handle take_from_host(Bytes size, Bytes alignment) {
    const auto region = obtain_aligned(*device_, size, alignment);
    if (!region) return kNoHandle;
    Handle block = add_region(region->address, region->size, false);
    if (region->aligned != region->address) {
      block = parts_.split(block, region->aligned - region->address);
    }
    if (parts_[block].size > size) parts_.split(block, size);
    return block;
  }

  void done_with(Handle handle) {
    parts_[handle].in_use = false;
    live_bytes_ -= parts_[handle].size;
  }

  void put_back(Handle handle) {
    if (!parts_[handle].warm) {
      cached_[order_of(parts_[handle].size)].push_back(handle);
      return;
    }
    for (Handle buddy = free_buddy(handle); buddy != kNoHandle; buddy = free_buddy(handle)) {
      unlink(buddy);
      if (parts_[buddy].address < parts_[handle].address) std::swap(buddy, handle);
      parts_.absorb_above(handle);
      ++merges_;
    }
    link(handle);
  }

  Handle free_buddy(Handle handle) const {
    const Part& part = parts_[handle];
    const bool upper = ((part.address - part.base) & part.size) != 0;
    const Handle buddy = upper ? part.below : part.above;
    if (buddy == kNoHandle || parts_[buddy].size != part.size) return kNoHandle;
    return parts_[buddy].listed ? buddy : kNoHandle;
  }

  Handle add_region(Address address, Bytes size, bool warm) {
    Part part;
    part.base = address;
    part.warm = warm;
    held_bytes_ += size;
    ++host_allocs_;
    return parts_.add_region(address, size, part);
  }

  /// `part` is all that there is of its region.
  void return_region(Handle part) {
    const Address address = parts_[part].address;
    held_bytes_ -= parts_[part].size;
    ++host_frees_;
    parts_.remove_region(part);
    device_->give_back(address);
  }

  void return_host_block(Handle block) {
    if (parts_[block].above != kNoHandle) parts_.absorb_above(block);
    if (const Handle below = parts_[block].below; below != kNoHandle) {
      parts_.absorb_above(below);
      block = below;
    }
    return_region(block);
  }

  /// The end of the list is what was freed last.
  void link(Handle handle) {
    Part& part = parts_[handle];
    part.listed = true;
    Handle& last = last_[order_of(part.size)];
    part.earlier = last;
    part.later = kNoHandle;
    if (last != kNoHandle) parts_[last].later = handle;
    last = handle;
    orders_ |= part.size;
  }

  void unlink(Handle handle) {
    Part& part = parts_[handle];
    part.listed = false;
    if (part.earlier != kNoHandle) parts_[part.earlier].later = part.later;
    if (part.later != kNoHandle) {
      parts_[part.later].earlier = part.earlier;
      return;
    }
    last_[order_of(part.size)] = part.earlier;
    if (part.earlier == kNoHandle) orders_ &= ~part.size;
  }

  void process_events() {
    completions_.process([&](Handle block) { put_back(block); });
  }

  PinnedBuddyOptions options_;
  ChunkTable<Part> parts_;
  std::array<std::vector<Handle>, 64> cached_;  ///< blocks of their own, by order
  std::array<Handle, 64> last_;                 ///< free parts of warm blocks, by order
  std::uint64_t orders_ = 0;                    ///< sizes of free parts of warm blocks
  EventQueue completions_;
  Address bases_ = 0;  ///< addresses of all warm blocks ever, or-ed
  bool warmed_up_ = false;
  std::uint64_t warm_away_ = 0;  ///< returned by `empty_cache` and not yet taken again
  Bytes held_bytes_ = 0;
  Bytes live_bytes_ = 0;
  std::int64_t warm_held_ = 0;
  std::int64_t warm_returned_ = 0;
  std::int64_t warm_again_ = 0;
  std::int64_t splits_ = 0;
  std::int64_t merges_ = 0;
  std::int64_t host_allocs_ = 0;
  std::int64_t host_frees_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  PinnedBuddyOptions options;
  options.block = alignment_option(spec, "block", options.block);
  if (options.block > kTiB) {
    throw UsageError("strategy 'pinned-buddy': block is above 1TiB, its largest class");
  }
  options.count = whole_option(spec, "count", options.count, 0, 65536);
  options.threshold = size_option(spec, "threshold", options.threshold);
  return std::make_unique<PinnedBuddy>(options, context.device);
}

}  // namespace

/// The proposal of pytorch/pytorch issue 181094 for pinned host memory: large blocks taken at the
/// start, halved and joined as buddies, and an `empty_cache` that returns those which are idle.
/// Blocks beside the warm ones are whole for good: only a part of a warm block has a buddy.
StrategyInfo pinned_buddy_strategy() {
  return {
      .name = "pinned-buddy",
      .summary = "Pinned host memory from blocks taken at the start, cut and joined as buddies.",
      .options = {{"block", "SIZE", "1GiB", "Size of a warm block, a power of two."},
                  {"count", "N", "8", "Warm blocks taken before the first request; 0: none."},
                  {"threshold", "SIZE", "4MiB",
                   "Requests up to this size get blocks of their own, of powers of two."}},
      .make = make,
      .scales = true,
      .takes_at_once = "count",
      .presets = {{"", 0, 1}}};
}

}  // namespace memreplay

#include <algorithm>

#include "core/error.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

/// Addresses of an endless pool, more than a trace asks for, and the piece in which it grows.
constexpr Bytes kEndless = Bytes{1} << 56;
constexpr Bytes kGranule = 2 * kMiB;

enum class PoolSize { given, whole_device, endless };

struct BumpOptions {
  PoolSize pool = PoolSize::endless;
  Bytes size = 0;  ///< where given
  Bytes align = 1;
  bool reset_when_empty = true;
};

/// An arena with a pointer (region-based allocation; Hanson 1990). O(1) an event.
class Bump final : public StrategyOn<Bump> {
 public:
  Bump(const BumpOptions& options, DeviceModel& device) : StrategyOn(device), options_(options) {}

  std::optional<Placement> allocate(const Request& request) override {
    if (!has_pool_ && !open_pool()) return std::nullopt;
    const Bytes size = round_up(request.size, options_.align);
    const Address at = round_up(top_, std::max(options_.align, request.alignment));
    if (size < request.size || at < top_ || at > limit_ || size > limit_ - at) return std::nullopt;
    if (!reach(at + size)) return std::nullopt;
    top_ = at + size;
    live_bytes_ += size;
    ++live_blocks_;
    return Placement{at, size, blocks_.add({at, size, request.size})};
  }

  void free(Handle handle, FreeOrigin) override {
    live_bytes_ -= blocks_.remove(handle).size;
    if (--live_blocks_ == 0 && options_.reset_when_empty) top_ = base_;
  }

  /// Only what lies above the pointer can serve a request.
  FreeSpace free_space() const override {
    return {.total = held_to_ - base_ - live_bytes_,
            .largest = held_to_ - std::min(held_to_, top_),
            .obtainable = options_.pool == PoolSize::endless || !has_pool_ ? UINT64_MAX : 0};
  }

  std::vector<AddressRange> free_ranges() const override {
    if (top_ >= held_to_) return {};
    return {{top_, held_to_}};
  }

  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    if (held_to_ > base_) {
      regions.push_back({.address = base_,
                         .size = held_to_ - base_,
                         .expandable = options_.pool == PoolSize::endless,
                         .blocks = {}});
    }
    return tiled(std::move(regions), blocks_.blocks());
  }

 private:
  bool open_pool() {
    std::optional<Address> base;
    Bytes size = options_.size;
    if (options_.pool == PoolSize::endless) {
      size = kEndless;
      base = device_->virtual_memory()->reserve(size);
    } else if (options_.pool == PoolSize::given) {
      base = device_->obtain(size);
    } else {
      // Where free memory is not a whole number of granules, the rest cannot be had.
      size = device_->free_bytes();
      base = size != 0 ? device_->obtain(size) : std::nullopt;
      if (!base && size > kGranule) base = device_->obtain(size = size / kGranule * kGranule);
    }
    if (!base) return false;
    has_pool_ = true;
    base_ = top_ = *base;
    limit_ = base_ + size;
    held_to_ = options_.pool == PoolSize::endless ? base_ : limit_;
    return true;
  }

  /// Makes sure that [base, end) is mapped.
  bool reach(Address end) {
    if (end <= held_to_) return true;
    const Bytes missing = round_up(end - held_to_, kGranule);
    if (!device_->virtual_memory()->map(held_to_, missing, kGranule)) return false;
    held_to_ += missing;
    return true;
  }

  BumpOptions options_;
  HandleTable<PlacedBlock> blocks_;
  bool has_pool_ = false;
  Address base_ = 0;
  Address top_ = 0;
  Address limit_ = 0;    ///< end of the addresses
  Address held_to_ = 0;  ///< [base, held_to) is mapped
  Bytes live_bytes_ = 0;
  std::uint64_t live_blocks_ = 0;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  BumpOptions options;
  options.size = size_option(spec, "size", 0);
  options.align = alignment_option(spec, "align", 1);
  constexpr std::string_view kResets[] = {"empty", "never"};
  options.reset_when_empty = choice_option(spec, "reset", kResets, 0) == 0;
  if (find_option(spec, "size")) {
    if (options.size == 0) throw UsageError("strategy 'bump': size is 0; expected more");
    options.pool = PoolSize::given;
  } else if (context.capacity) {
    options.pool = PoolSize::whole_device;
  } else if (!context.device.virtual_memory()) {
    throw UsageError("strategy 'bump' needs size=SIZE on a device without virtual memory");
  }
  return std::make_unique<Bump>(options, context.device);
}

}  // namespace

/// One pool with a pointer that only moves up, until the pool is empty.
StrategyInfo bump_strategy() {
  return {
      .name = "bump",
      .summary = "One pool and a pointer that moves up; it starts again when the pool is empty.",
      .options = {{"size", "SIZE", "capacity",
                   "Bytes of the pool; without a capacity it grows without end."},
                  {"align", "SIZE", "1", "Sizes and addresses are multiples of this."},
                  {"reset", "empty|never", "empty",
                   "When the pointer goes back to the start of the pool."}},
      .make = make,
      .keeps_regions = true,
      .known_as = {{"linear"}, {"arena"}, {"region"}},
      .needs_start = true};
}

}  // namespace memreplay

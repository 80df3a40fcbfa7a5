#include <algorithm>

#include "core/error.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/planned_region.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kAlgorithms[] = {"layers", "size", "auto"};
/// The var area is this many times as large as its peak was.
constexpr std::uint64_t kVarRoom = 2;

enum class Part : std::uint8_t { planned, var, fallback };

struct StallocBlock {
  PlacedBlock place;  ///< size 0 in the fallback
  Handle inner = kNoHandle;
  Part part = Part::fallback;
};

/// Places of one size for the smallest requests, in a region of their own.
struct VarArea {
  Bytes slot = 0;
  std::uint64_t slots = 0;
  std::optional<AlignedRegion> region;
  std::vector<std::uint64_t> free;  ///< slots, the next one last

  Bytes size() const { return slot * slots; }
};

struct StallocState {
  PlannedRegion region;
  VarArea var;
  HandleTable<StallocBlock> blocks;
  std::uint64_t var_served = 0;
  std::uint64_t fallback_served = 0;
  Bytes fallback_bytes = 0;  ///< requested
};

class Stalloc final : public Strategy {
 public:
  Stalloc(StallocState state, std::unique_ptr<Strategy> fallback, DeviceModel& device)
      : state_(std::move(state)), fallback_(std::move(fallback)), device_(&device) {}

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    return std::make_unique<Stalloc>(state_, fallback_->clone(device), device);
  }

  std::optional<Placement> allocate(const Request& request) override {
    const Plan& plan = state_.region.plan();
    if (request.size <= plan.above) {
      if (const auto place = take_var(request)) return add({*place, kNoHandle, Part::var});
    } else if (const auto place = state_.region.take(request, *device_)) {
      return add({*place, kNoHandle, Part::planned});
    }
    auto placement = fallback_->allocate(request);
    if (!placement) return std::nullopt;
    ++state_.fallback_served;
    state_.fallback_bytes += request.size;
    placement->handle = state_.blocks.add({{}, placement->handle, Part::fallback});
    return placement;
  }

  void free(Handle handle) override {
    const StallocBlock block = state_.blocks.remove(handle);
    if (!release(block)) fallback_->free(block.inner);
  }
  void free_by(Handle handle, const Giver& giver) override {
    const StallocBlock block = state_.blocks.remove(handle);
    if (!release(block)) fallback_->free_by(block.inner, giver);
  }
  void request_free(Handle handle) override {
    const StallocBlock& block = state_.blocks[handle];
    if (block.part == Part::fallback) fallback_->request_free(block.inner);
  }
  void complete_free(Handle handle) override {
    const StallocBlock block = state_.blocks.remove(handle);
    if (!release(block)) fallback_->complete_free(block.inner);
  }
  /// What was laid out beforehand stays.
  void empty_cache() override { fallback_->empty_cache(); }
  void release_pool(PoolIndex pool, bool at_once) override {
    fallback_->release_pool(pool, at_once);
  }
  void marker() override {
    state_.region.marker();
    fallback_->marker();
  }
  void safe_frontier(std::uint64_t frontier) override { fallback_->safe_frontier(frontier); }

  bool joins_regions() const override { return fallback_->joins_regions(); }
  FreeSpace free_space() const override {
    FreeSpace space = fallback_->free_space();
    space.add(state_.region.free_space());
    for (const AddressRange range : free_slots()) space.add({range.size(), range.size()});
    return space;
  }
  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges = fallback_->free_ranges();
    for (const auto& more : {state_.region.free_ranges(), free_slots()}) {
      ranges.insert(ranges.end(), more.begin(), more.end());
    }
    return ranges;
  }
  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    for (const auto& region : {state_.region.region(), state_.var.region}) {
      if (!region) continue;
      regions.push_back({.address = region->address, .size = region->size, .blocks = {}});
    }
    std::vector<PlacedBlock> places;
    for (const StallocBlock& block : state_.blocks.blocks()) places.push_back(block.place);
    return together({fallback_->memory_state(), tiled(std::move(regions), places)});
  }
  StrategyUsage usage() const override {
    StrategyUsage usage = fallback_->usage();
    usage.clairvoyant |= is_planned() && state_.region.plan().clairvoyant;
    return usage;
  }
  Counters counters() const override {
    const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    const PlannedRegion& region = state_.region;
    Counters counters = {{"plan_height_bytes", number(region.plan().height)},
                         {"plan_lower_bound_bytes", number(region.plan().lower_bound)},
                         {"planned_served", number(region.served())},
                         {"planned_served_bytes", number(region.served_bytes())},
                         {"mismatches", number(region.missed())},
                         {"mismatched_bytes", number(region.missed_bytes())},
                         {"var_bytes", number(state_.var.size())},
                         {"var_served", number(state_.var_served)},
                         {"fallback_served", number(state_.fallback_served)},
                         {"fallback_served_bytes", number(state_.fallback_bytes)}};
    for (const auto& [name, value] : fallback_->counters()) {
      counters.emplace_back("fallback." + name, value);
    }
    return counters;
  }
  std::vector<std::string> remarks() const override {
    std::vector<std::string> remarks = fallback_->remarks();
    if (!is_planned()) {
      remarks.push_back("it had nothing to plan from: everything is the fallback's");
    } else if (state_.region.plan().clairvoyant) {
      remarks.push_back(
          "it was planned on the very iterations that it serves, for this trace has no others; a "
          "running program knows only those before");
    } else {
      remarks.push_back("planned on the first iterations; they count in its figures too");
    }
    for (std::string& remark : state_.region.remarks()) remarks.push_back(std::move(remark));
    return remarks;
  }
  std::string oom_report(const Request& request) const override {
    return fallback_->oom_report(request);
  }

 private:
  bool is_planned() const { return !state_.region.plan().entries.empty() || state_.var.slots != 0; }

  Placement add(const StallocBlock& block) {
    return {block.place.address, block.place.size, state_.blocks.add(block)};
  }

  std::optional<PlacedBlock> take_var(const Request& request) {
    VarArea& var = state_.var;
    if (var.slots == 0) return std::nullopt;
    if (request.alignment != 0 && var.slot % request.alignment != 0) return std::nullopt;
    if (!var.region) {
      var.region = obtain_aligned(*device_, var.size(), var.slot);
      if (!var.region) return std::nullopt;
      for (std::uint64_t slot = var.slots; slot > 0; --slot) var.free.push_back(slot - 1);
    }
    if (var.free.empty()) return std::nullopt;
    const Address address = var.region->aligned + var.free.back() * var.slot;
    var.free.pop_back();
    ++state_.var_served;
    return PlacedBlock{address, var.slot, request.size};
  }

  /// False: the block is the fallback's.
  bool release(const StallocBlock& block) {
    if (block.part == Part::fallback) return false;
    if (block.part == Part::planned) {
      state_.region.release(block.place);
    } else {
      VarArea& var = state_.var;
      var.free.push_back((block.place.address - var.region->aligned) / var.slot);
    }
    return true;
  }

  std::vector<AddressRange> free_slots() const {
    const VarArea& var = state_.var;
    std::vector<AddressRange> ranges;
    if (!var.region) return ranges;
    const AlignedRegion& region = *var.region;
    const auto add_range = [&](Address from, Address to) {
      if (from < to) ranges.push_back({from, to});
    };
    add_range(region.address, region.aligned);
    std::vector<std::uint64_t> free = var.free;
    std::sort(free.begin(), free.end());
    for (const std::uint64_t slot : free) {
      const Address from = region.aligned + slot * var.slot;
      if (!ranges.empty() && ranges.back().to == from) {
        ranges.back().to += var.slot;
      } else {
        ranges.push_back({from, from + var.slot});
      }
    }
    const Address end = region.aligned + var.size();
    if (!ranges.empty() && ranges.back().to == end) {
      ranges.back().to = region.address + region.size;
    } else {
      add_range(end, region.address + region.size);
    }
    return ranges;
  }

  StallocState state_;
  std::unique_ptr<Strategy> fallback_;
  DeviceModel* device_;
};

std::optional<PlanWish> wish_of(const StrategySpec& spec) {
  constexpr std::string_view kNames[] = {"layers", "size/best", "layers|size/best"};
  PlanWish wish;
  wish.scope = PlanWish::Scope::first_iterations;
  wish.algorithm = kNames[choice_option(spec, "algorithm", kAlgorithms, 2)];
  wish.alignment = alignment_option(spec, "align", 512);
  wish.above = size_option(spec, "small", 512);
  const std::uint64_t iterations = whole_option(spec, "train", 2);
  if (iterations == 0 || iterations > 1'000'000) {
    throw UsageError("strategy 'stalloc': train is a number between 1 and 1000000");
  }
  wish.iterations = static_cast<std::uint32_t>(iterations);
  return wish;
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  const PlanWish wish = *wish_of(spec);
  if (spec.inner.size() > 1) {
    throw UsageError("'stalloc' wraps one strategy: stalloc(torch)");
  }
  const StrategySpec inner = spec.inner.empty() ? parse_strategy("torch") : spec.inner.front();
  if (plan_wish(inner)) throw UsageError("'stalloc' cannot wrap a strategy that follows a plan");
  auto fallback = make_strategy(inner, context);
  if (fallback->moved_out()) {
    throw UsageError("'stalloc' cannot wrap a strategy that moves blocks");
  }
  const auto plan = context.plan ? context.plan : std::make_shared<const Plan>();
  StallocState state{.region = PlannedRegion(plan), .var = {}, .blocks = {}};
  if (plan->above != 0) {
    state.var.slot = round_up(plan->above, wish.alignment);
    state.var.slots = kVarRoom * plan->small_peak;
  }
  return std::make_unique<Stalloc>(std::move(state), std::move(fallback), context.device);
}

}  // namespace

/// STAlloc: profiles the first iterations, gives their requests planned places, and falls back to a
/// caching allocator (infinigence/STAlloc, Allocator/StaticAllocator.hpp). O(log live) an event
/// beside the fallback.
StrategyInfo stalloc_strategy() {
  return {.name = "stalloc",
          .summary = "STAlloc: planned from the first iterations, over a caching allocator.",
          .options = {{"algorithm", "layers|size|auto", "auto",
                       "Layered fit, the largest blocks first, or the lower of both."},
                      {"small", "SIZE", "512", "Requests up to this size have an area apart."},
                      {"align", "SIZE", "512", "Sizes and offsets are multiples of it."},
                      {"train", "N", "2", "Iterations, from the first marker on, to plan from."}},
          .make = make,
          .wraps = true,
          .example = "stalloc(torch)",
          .plan_for = wish_of};
}

}  // namespace memreplay

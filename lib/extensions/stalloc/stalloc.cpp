#include <algorithm>

#include "core/error.hpp"
#include "extensions/planner/planned_region.hpp"
#include "strategy/parts/strategy_wrapper.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kAlgorithms[] = {"layers", "size", "auto", "search", "group"};
/// The var area is this many times as large as its peak was.
constexpr std::uint64_t kVarRoom = 2;

/// A block of the fallback, its only part, or one at a place laid out beforehand.
struct StallocBlock : PartBlock {
  PlacedBlock place;
  bool var = false;  ///< the place is in the var area
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
  std::uint64_t var_served = 0;
  std::uint64_t fallback_served = 0;
  Bytes fallback_bytes = 0;  ///< requested
};

class Stalloc final : public StrategyWrapper<StallocBlock> {
 public:
  Stalloc(StallocState state, Parts fallback, DeviceModel& device,
          HandleTable<StallocBlock> blocks = {})
      : StrategyWrapper(std::move(fallback), std::move(blocks)),
        state_(std::move(state)),
        device_(&device) {}

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    return std::make_unique<Stalloc>(state_, copies(device), device, blocks_);
  }

  std::optional<Placement> allocate(const Request& request) override {
    const bool small = request.size <= state_.region.plan().above;
    const auto place = small ? take_var(request) : state_.region.take(request, *device_);
    if (place) {
      return Placement{place->address, place->size, blocks_.add({PartBlock{}, *place, small})};
    }
    auto placement = last_part().allocate(request);
    if (!placement) return std::nullopt;
    ++state_.fallback_served;
    state_.fallback_bytes += request.size;
    placement->handle = blocks_.add({PartBlock{placement->handle, 0}, {}, false});
    return placement;
  }

  void marker() override {
    state_.region.marker();
    StrategyWrapper::marker();
  }

  FreeSpace free_space() const override {
    FreeSpace space = StrategyWrapper::free_space();
    space.add(state_.region.free_space());
    for (const AddressRange range : free_slots()) space.add({range.size(), range.size()});
    return space;
  }
  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges = StrategyWrapper::free_ranges();
    append(ranges, state_.region.free_ranges());
    append(ranges, free_slots());
    return ranges;
  }
  MemoryState memory_state() const override {
    std::vector<SegmentInfo> regions;
    for (const auto& region : {state_.region.region(), state_.var.region}) {
      if (!region) continue;
      regions.push_back({.address = region->address, .size = region->size, .blocks = {}});
    }
    std::vector<PlacedBlock> places;
    for (const StallocBlock& block : blocks_.blocks()) places.push_back(block.place);
    return together({StrategyWrapper::memory_state(), tiled(std::move(regions), places)});
  }
  StrategyUsage usage() const override {
    StrategyUsage usage = StrategyWrapper::usage();
    usage.clairvoyant |= is_planned() && state_.region.plan().clairvoyant;
    return usage;
  }
  Testimony testimony() const override {
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
    if (!region.plan().regions.empty()) {
      counters.emplace_back("dynamic_served", number(region.dynamic_served()));
      counters.emplace_back("dynamic_served_bytes", number(region.dynamic_served_bytes()));
    }
    Testimony fallback = last_part().testimony();
    append_counters(counters, "fallback.", fallback.counters);
    std::vector<std::string> remarks = std::move(fallback.remarks);
    if (!is_planned()) {
      remarks.push_back("it had nothing to plan from: the fallback serves everything");
    } else if (state_.region.plan().clairvoyant) {
      remarks.push_back(
          "its plan was made from the iterations that it serves, because this trace has no others; "
          "a running program knows only earlier ones");
    } else {
      remarks.push_back("planned from the first iterations, which count in its figures too");
    }
    if (region.plan().grouped || !region.plan().regions.empty()) {
      remarks.push_back(
          "a model where it places by groups or in dynamic regions: it follows STAlloc's "
          "description, not compared with it");
    }
    append(remarks, region.remarks());
    return {std::move(counters), std::move(remarks)};
  }

 private:
  bool is_planned() const { return !state_.region.plan().entries.empty() || state_.var.slots != 0; }

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

  void free_own(const StallocBlock& block) override {
    if (!block.var) return state_.region.release(block.place);
    VarArea& var = state_.var;
    var.free.push_back((block.place.address - var.region->aligned) / var.slot);
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
  DeviceModel* device_;
};

std::optional<PlanWish> wish_of(const StrategySpec& spec) {
  constexpr std::string_view kNames[] = {"layers", "size/best", "layers|size/best|groups", "search",
                                         "groups"};
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
  wish.dynamic = find_option(spec, "dynamic").value_or("");
  return wish;
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  const PlanWish wish = *wish_of(spec);
  if (spec.inner.size() > 1) {
    throw UsageError("'stalloc' wraps one strategy: stalloc(torch)");
  }
  const StrategySpec inner = spec.inner.empty() ? parse_strategy("torch") : spec.inner.front();
  if (plan_wish(inner)) throw UsageError("'stalloc' cannot wrap a strategy that follows a plan");
  std::vector<std::unique_ptr<Strategy>> fallback;
  fallback.push_back(make_strategy(inner, context));
  if (fallback.front()->usage().moves_blocks()) {
    throw UsageError("'stalloc' cannot wrap a strategy that moves blocks");
  }
  const auto plan = context.plan ? context.plan : std::make_shared<const Plan>();
  StallocState state{.region = PlannedRegion(plan), .var = {}};
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
  return {
      .name = "stalloc",
      .summary = "STAlloc: a plan from the first iterations, on top of a caching allocator.",
      .options = {{"algorithm", "layers|size|auto|search|group", "auto",
                   "Layered fit, the largest blocks first, the lowest of these and group, or a "
                   "search of up to 10 s; group: what micro-batches share is placed as one."},
                  {"small", "SIZE", "512", "Requests up to this size have an area of their own."},
                  {"align", "SIZE", "512", "Sizes and offsets are multiples of this."},
                  {"train", "N", "2", "Iterations, from the first marker on, to plan from."},
                  {"dynamic", "TEXT", "none",
                   "Layers whose marks hold it are not planned: their requests go where the "
                   "plan is free."}},
      .make = make,
      .wraps = true,
      .example = "stalloc(torch)",
      .plan_for = wish_of,
      .presets = {{"", 4}}};
}

}  // namespace memreplay

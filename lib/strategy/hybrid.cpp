#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.hpp"
#include "strategy/parts/arena_device.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/parts/regions.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct HybridBlock {
  Handle inner = kNoHandle;
  bool is_static = false;
};

struct HybridState {
  HandleTable<HybridBlock> blocks;
  std::uint64_t static_served = 0;
  std::uint64_t dynamic_served = 0;
  std::uint64_t static_missed = 0;
  Bytes static_bytes = 0;   ///< requested, of all that it served
  Bytes dynamic_bytes = 0;  ///< the same
};

class Hybrid final : public Strategy {
 public:
  /// `fixed` is null where there is no static part, `arena` where it has the device itself.
  Hybrid(HybridState state, std::unique_ptr<ArenaDevice> arena, std::unique_ptr<Strategy> fixed,
         std::unique_ptr<Strategy> dynamic)
      : state_(std::move(state)),
        arena_(std::move(arena)),
        fixed_(std::move(fixed)),
        dynamic_(std::move(dynamic)) {}

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    auto arena = arena_ ? arena_->copy_over(device) : nullptr;
    DeviceModel& under_fixed = arena ? static_cast<DeviceModel&>(*arena) : device;
    auto fixed = fixed_ ? fixed_->clone(under_fixed) : nullptr;
    return std::make_unique<Hybrid>(state_, std::move(arena), std::move(fixed),
                                    dynamic_->clone(device));
  }

  std::optional<Placement> allocate(const Request& request) override {
    if (fixed_) {
      if (auto placement = fixed_->allocate(request)) {
        ++state_.static_served;
        state_.static_bytes += request.size;
        placement->handle = state_.blocks.add({placement->handle, true});
        return placement;
      }
      ++state_.static_missed;
    }
    auto placement = dynamic_->allocate(request);
    if (!placement) return std::nullopt;
    ++state_.dynamic_served;
    state_.dynamic_bytes += request.size;
    placement->handle = state_.blocks.add({placement->handle, false});
    return placement;
  }

  void free(Handle handle) override {
    const HybridBlock block = state_.blocks.remove(handle);
    part_of(block).free(block.inner);
  }
  void free_by(Handle handle, const Giver& giver) override {
    const HybridBlock block = state_.blocks.remove(handle);
    part_of(block).free_by(block.inner, giver);
  }
  void request_free(Handle handle) override {
    const HybridBlock block = state_.blocks[handle];
    part_of(block).request_free(block.inner);
  }
  void complete_free(Handle handle) override {
    const HybridBlock block = state_.blocks.remove(handle);
    part_of(block).complete_free(block.inner);
  }
  void prefetch(Handle handle) const override {
    const HybridBlock& block = state_.blocks.blocks()[handle];
    (block.is_static ? *fixed_ : *dynamic_).prefetch(block.inner);
  }
  void empty_cache() override {
    for_each_part([](Strategy& part) { part.empty_cache(); });
  }
  void release_pool(PoolIndex pool, bool at_once) override {
    for_each_part([&](Strategy& part) { part.release_pool(pool, at_once); });
  }
  void marker() override {
    for_each_part([](Strategy& part) { part.marker(); });
  }
  void safe_frontier(std::uint64_t frontier) override {
    for_each_part([&](Strategy& part) { part.safe_frontier(frontier); });
  }

  bool joins_regions() const override {
    return dynamic_->joins_regions() || (fixed_ && fixed_->joins_regions());
  }
  FreeSpace free_space() const override {
    FreeSpace space = dynamic_->free_space();
    if (fixed_) space.add(fixed_->free_space());
    if (arena_) space.add({arena_->holes().total(), arena_->holes().largest()});
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges = dynamic_->free_ranges();
    if (fixed_) append(ranges, fixed_->free_ranges());
    if (arena_) {
      for (const auto& [from, to] : arena_->holes().ranges()) ranges.push_back({from, to});
    }
    return ranges;
  }

  /// Of the arena, what the static part has taken of it and what it has not are segments.
  MemoryState memory_state() const override {
    std::vector<MemoryState> parts = {dynamic_->memory_state()};
    if (fixed_) parts.push_back(fixed_->memory_state());
    if (arena_) {
      std::vector<SegmentInfo> holes;
      for (const auto& [from, to] : arena_->holes().ranges()) {
        holes.push_back({.address = from, .size = to - from, .blocks = {}});
      }
      parts.push_back(tiled(std::move(holes), {}));
    }
    return together(std::move(parts));
  }

  StrategyUsage usage() const override {
    StrategyUsage usage = dynamic_->usage();
    if (fixed_) usage.add(fixed_->usage());
    return usage;
  }

  Counters counters() const override {
    const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    Counters counters = {{"static_served", number(state_.static_served)},
                         {"static_served_bytes", number(state_.static_bytes)},
                         {"static_missed", number(state_.static_missed)},
                         {"dynamic_served", number(state_.dynamic_served)},
                         {"dynamic_served_bytes", number(state_.dynamic_bytes)}};
    if (arena_) counters.emplace_back("static_peak_bytes", number(arena_->usage().peak_held));
    const auto add = [&](std::string_view part, const Counters& inner) {
      for (const auto& [name, value] : inner) {
        counters.emplace_back(fmt::format("{}.{}", part, name), value);
      }
    };
    if (fixed_) add("static", fixed_->counters());
    add("dynamic", dynamic_->counters());
    return counters;
  }

  std::vector<std::string> remarks() const override {
    std::vector<std::string> remarks = dynamic_->remarks();
    if (fixed_) append(remarks, fixed_->remarks());
    return remarks;
  }

  std::string oom_report(const Request& request) const override {
    return dynamic_->oom_report(request);
  }

 private:
  template <typename T>
  static void append(std::vector<T>& all, std::vector<T> more) {
    std::move(more.begin(), more.end(), std::back_inserter(all));
  }
  Strategy& part_of(const HybridBlock& block) { return block.is_static ? *fixed_ : *dynamic_; }
  template <typename Call>
  void for_each_part(const Call& call) {
    if (fixed_) call(*fixed_);
    call(*dynamic_);
  }

  HybridState state_;
  std::unique_ptr<ArenaDevice> arena_;
  std::unique_ptr<Strategy> fixed_;
  std::unique_ptr<Strategy> dynamic_;
};

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  if (spec.inner.size() != 2) {
    throw UsageError("'hybrid' wraps two strategies: hybrid(plan,torch)");
  }
  if (plan_wish(spec.inner[1])) {
    throw UsageError(
        "strategy 'hybrid': the dynamic part sees only some requests, which no plan knows");
  }
  const bool planned = plan_wish(spec.inner[0]).has_value();
  const bool sized = find_option(spec, "static").has_value();
  const Bytes size = size_option(spec, "static", 0);
  if (planned && sized) {
    throw UsageError("strategy 'hybrid': a plan has its own size; static=SIZE is for others");
  }
  if (sized && size == 0) throw UsageError("strategy 'hybrid': static is 0; expected more");
  std::unique_ptr<ArenaDevice> arena;
  std::unique_ptr<Strategy> fixed;
  if (sized) {
    arena = std::make_unique<ArenaDevice>(context.device, size);
    StrategyContext inside{.device = *arena};
    inside.capacity = size;
    inside.recorded = context.recorded;
    inside.torch_version = context.torch_version;
    inside.pools = context.pools;
    inside.pool_options = context.pool_options;
    inside.texts = context.texts;
    inside.uses = context.uses;
    fixed = make_strategy(spec.inner[0], inside);
  } else if (!planned || context.plan) {
    fixed = make_strategy(spec.inner[0], context);
  }
  auto dynamic = make_strategy(spec.inner[1], context);
  if ((fixed && fixed->moved_out()) || dynamic->moved_out()) {
    throw UsageError("'hybrid' cannot wrap a strategy that moves blocks");
  }
  return std::make_unique<Hybrid>(HybridState{}, std::move(arena), std::move(fixed),
                                  std::move(dynamic));
}

}  // namespace

/// A static part laid out beforehand, and a dynamic one for what has no room in it. A model of
/// programs that plan what they know of. Costs what its parts cost.
StrategyInfo hybrid_strategy() {
  return {.name = "hybrid",
          .summary = "A static part laid out beforehand, and a dynamic one for the rest.",
          .options = {{"static", "SIZE", "its own",
                       "Bytes of the static part's arena, obtained at once; a plan has its own."}},
          .make = make,
          .wraps = true,
          .example = "hybrid(plan,torch)"};
}

}  // namespace memreplay

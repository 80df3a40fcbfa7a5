#include <algorithm>

#include "core/error.hpp"
#include "extensions/hybrid/arena_device.hpp"
#include "strategy/parts/strategy_wrapper.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

struct HybridState {
  std::uint64_t static_served = 0;
  std::uint64_t dynamic_served = 0;
  std::uint64_t static_missed = 0;
  Bytes static_bytes = 0;   ///< requested, of all that it served
  Bytes dynamic_bytes = 0;  ///< likewise
};

/// Its last part is the dynamic one; the static one, where there is one, is the first.
class Hybrid final : public StrategyWrapper<> {
 public:
  /// `arena` is null where the static part has the device itself.
  Hybrid(HybridState state, std::unique_ptr<ArenaDevice> arena, Parts parts,
         HandleTable<PartBlock> blocks = {})
      : StrategyWrapper(std::move(parts), std::move(blocks)),
        state_(state),
        arena_(std::move(arena)) {}

  std::unique_ptr<Strategy> clone(DeviceModel& device) const override {
    auto arena = arena_ ? arena_->copy_over(device) : nullptr;
    Parts parts;
    if (has_static_part()) {
      parts.push_back(part(0).clone(arena ? static_cast<DeviceModel&>(*arena) : device));
    }
    parts.push_back(last_part().clone(device));
    return std::make_unique<Hybrid>(state_, std::move(arena), std::move(parts), blocks_);
  }

  std::optional<Placement> allocate(const Request& request) override {
    const std::uint32_t dynamic = has_static_part() ? 1 : 0;
    if (has_static_part()) {
      if (const auto placement = place(0, request)) {
        ++state_.static_served;
        state_.static_bytes += request.size;
        return placement;
      }
      ++state_.static_missed;
    }
    const auto placement = place(dynamic, request);
    if (!placement) return std::nullopt;
    ++state_.dynamic_served;
    state_.dynamic_bytes += request.size;
    return placement;
  }

  FreeSpace free_space() const override {
    FreeSpace space = StrategyWrapper::free_space();
    if (arena_) space.add({arena_->holes().total(), arena_->holes().largest()});
    return space;
  }

  std::vector<AddressRange> free_ranges() const override {
    std::vector<AddressRange> ranges = StrategyWrapper::free_ranges();
    if (arena_) {
      for (const auto& [from, to] : arena_->holes().ranges()) ranges.push_back({from, to});
    }
    return ranges;
  }

  /// The parts of the arena that the static part has taken, and the others, are segments.
  MemoryState memory_state() const override {
    MemoryState state = StrategyWrapper::memory_state();
    if (!arena_) return state;
    std::vector<SegmentInfo> holes;
    for (const auto& [from, to] : arena_->holes().ranges()) {
      holes.push_back({.address = from, .size = to - from, .blocks = {}});
    }
    return together({std::move(state), tiled(std::move(holes), {})});
  }

  Testimony testimony() const override {
    const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    Counters counters = {{"static_served", number(state_.static_served)},
                         {"static_served_bytes", number(state_.static_bytes)},
                         {"static_missed", number(state_.static_missed)},
                         {"dynamic_served", number(state_.dynamic_served)},
                         {"dynamic_served_bytes", number(state_.dynamic_bytes)}};
    if (arena_) counters.emplace_back("static_peak_bytes", number(arena_->usage().peak_held));
    Testimony dynamic = last_part().testimony();
    if (has_static_part()) {
      Testimony fixed = part(0).testimony();
      append_counters(counters, "static.", fixed.counters);
      append(dynamic.remarks, std::move(fixed.remarks));
    }
    append_counters(counters, "dynamic.", dynamic.counters);
    return {std::move(counters), std::move(dynamic.remarks)};
  }

 private:
  bool has_static_part() const { return part_count() == 2; }

  std::optional<Placement> place(std::uint32_t by, const Request& request) {
    auto placement = part(by).allocate(request);
    if (placement) placement->handle = blocks_.add({placement->handle, by});
    return placement;
  }

  HybridState state_;
  std::unique_ptr<ArenaDevice> arena_;
};

/// static=plan stands for a plan as low as the planner finds it, over what is wrapped, or torch.
StrategySpec spelled_out(StrategySpec spec) {
  if (find_option(spec, "static") != "plan") return spec;
  if (spec.inner.size() > 1) {
    throw UsageError(
        "'hybrid' with static=plan wraps only the dynamic part: hybrid(torch):static=plan");
  }
  std::erase_if(spec.options, [](const auto& option) { return option.first == "static"; });
  if (spec.inner.empty()) spec.inner.push_back(parse_strategy("torch"));
  spec.inner.insert(spec.inner.begin(), parse_strategy("plan:order=search"));
  return under_release(spec, spec.release);
}

std::optional<PlanWish> wish_of(const StrategySpec& spec) {
  for (const StrategySpec& inner : spelled_out(spec).inner) {
    if (auto wish = plan_wish(inner)) return wish;
  }
  return std::nullopt;
}

std::unique_ptr<Strategy> make(const StrategySpec& asked, const StrategyContext& context) {
  const StrategySpec spec = spelled_out(asked);
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
  std::vector<std::unique_ptr<Strategy>> parts;
  if (sized) {
    arena = std::make_unique<ArenaDevice>(context.device, size);
    StrategyContext inside{.device = *arena};
    inside.capacity = size;
    inside.recorded = context.recorded;
    inside.pools = context.pools;
    inside.pool_options = context.pool_options;
    inside.texts = context.texts;
    inside.uses = context.uses;
    parts.push_back(make_strategy(spec.inner[0], inside));
  } else if (!planned || context.plan) {
    parts.push_back(make_strategy(spec.inner[0], context));
  }
  parts.push_back(make_strategy(spec.inner[1], context));
  if (std::ranges::any_of(parts, [](const auto& part) { return part->usage().moves_blocks(); })) {
    throw UsageError("'hybrid' cannot wrap a strategy that moves blocks");
  }
  return std::make_unique<Hybrid>(HybridState{}, std::move(arena), std::move(parts));
}

}  // namespace

/// A static part laid out beforehand, and a dynamic one for what has no room in it. A model of
/// programs that plan what they know of. Costs what its parts cost.
StrategyInfo hybrid_strategy() {
  return {.name = "hybrid",
          .summary = "A static part laid out beforehand, and a dynamic one for the rest.",
          .options = {{"static", "SIZE|plan", "its own",
                       "Bytes of the static part's arena, obtained at once; plan: a plan, with its "
                       "own."}},
          .make = make,
          .wraps = true,
          .example = "hybrid(plan,torch)",
          .plan_for = wish_of};
}

}  // namespace memreplay

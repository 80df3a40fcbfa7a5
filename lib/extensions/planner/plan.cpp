#include <fmt/format.h>

#include "core/error.hpp"
#include "extensions/planner/planned_region.hpp"
#include "strategy/parts/handle_table.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kOrders[] = {"size",       "area", "length", "start", "breadth",
                                        "contention", "best", "ggml",   "search"};
constexpr std::size_t kSearch = 8;
constexpr std::string_view kFits[] = {"best", "first"};

class Planned final : public StrategyOn<Planned> {
 public:
  Planned(PlannedRegion region, DeviceModel& device)
      : StrategyOn(device), region_(std::move(region)) {}

  std::optional<Placement> allocate(const Request& request) override {
    const auto block = region_.take(request, *device_);
    if (!block) return std::nullopt;
    return Placement{block->address, block->size, blocks_.add(*block)};
  }
  void free(Handle handle, FreeOrigin) override { region_.release(blocks_.remove(handle)); }

  FreeSpace free_space() const override { return region_.free_space(); }
  std::vector<AddressRange> free_ranges() const override { return region_.free_ranges(); }
  StrategyUsage usage() const override {
    return {.clairvoyant = region_.plan().clairvoyant && !region_.refused()};
  }
  Testimony testimony() const override {
    const auto number = [](std::uint64_t n) { return static_cast<std::int64_t>(n); };
    std::vector<std::string> remarks = region_.remarks();
    if (!region_.refused()) {
      remarks.insert(remarks.begin(),
                     "its plan was made from this very trace; no running program knows its future");
    }
    return {.counters = {{"plan_height_bytes", number(region_.plan().height)},
                         {"plan_lower_bound_bytes", number(region_.plan().lower_bound)},
                         {"out_of_plan", number(region_.missed())}},
            .remarks = std::move(remarks)};
  }
  MemoryState memory_state() const override {
    if (!region_.region()) return {};
    return tiled(
        {{.address = region_.region()->address, .size = region_.region()->size, .blocks = {}}},
        blocks_.blocks());
  }

 private:
  PlannedRegion region_;
  HandleTable<PlacedBlock> blocks_;
};

std::optional<PlanWish> wish_of(const StrategySpec& spec) {
  PlanWish wish;
  const std::size_t order = choice_option(spec, "order", kOrders, 6);
  const std::string_view fit = kFits[choice_option(spec, "fit", kFits, 0)];
  wish.algorithm = order == kSearch ? "search" : fmt::format("{}/{}", kOrders[order], fit);
  wish.alignment = alignment_option(spec, "align", wish.alignment);
  return wish;
}

std::unique_ptr<Strategy> make(const StrategySpec& spec, const StrategyContext& context) {
  wish_of(spec);
  if (!context.plan) throw UsageError("'plan' needs the trace that is to be planned");
  return std::make_unique<Planned>(PlannedRegion(context.plan), context.device);
}

}  // namespace

/// Follows a plan made from the trace itself: what an allocator could do that knows the future.
/// O(log live) an event.
StrategyInfo plan_strategy() {
  return {
      .name = "plan",
      .summary = "A plan made from the whole trace: a goal, not an allocator.",
      .options = {{"order", "size|area|length|start|breadth|contention|best|ggml|search", "best",
                   "In which order blocks are placed: best tries all before it, ggml models "
                   "ggml's graph arena (by start, the highest of equal holes), search goes on "
                   "for up to 10 s."},
                  {"fit", "best|first", "best",
                   "The gap that a block goes to: the smallest, or the lowest."},
                  {"align", "SIZE", "512", "Sizes and offsets are multiples of this."}},
      .make = make,
      .keeps_regions = true,
      .plan_for = wish_of,
      .needs_plan = true,
      .known_as = {{"optimal"}, {"planned"}, {"minimalloc"}},
      .presets = {{"order=size", 5}, {"order=best", 5, 5}}};
}

}  // namespace memreplay

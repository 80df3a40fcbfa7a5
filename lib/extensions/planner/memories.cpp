#include "extensions/planner/memories.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>

#include "extensions/planner/ordered.hpp"

namespace memreplay {
namespace {

/// In which memories are filled: first by what keeps most bytes for the longest.
constexpr PlacingOrder kFillingOrders[] = {PlacingOrder::area,    PlacingOrder::size,
                                           PlacingOrder::length,  PlacingOrder::contention,
                                           PlacingOrder::breadth, PlacingOrder::start};
constexpr PlacingFit kFillingFits[] = {PlacingFit::best, PlacingFit::first};

class MemoriesPlanner {
 public:
  MemoriesPlanner(const PlanningProblem& problem, std::span<const Bytes> capacities,
                  const PlannerOptions& options, const Control& control)
      : problem_(problem), capacities_(capacities), options_(options), control_(control) {
    const double searches = static_cast<double>(std::size(kFillingOrders) *
                                                std::size(kFillingFits) * capacities.size());
    options_.seconds /= searches;
    options_.minimise = false;
  }

  SpreadPlan run() {
    find_impossible();
    for (const PlacingOrder order : kFillingOrders) {
      for (const PlacingFit fit : kFillingFits) {
        if (found_.impossible || found_.packing || control_.stopped()) break;
        if (!spread(order, fit)) continue;
        found_.found_by = name_of(order, fit);
      }
    }
    found_.seconds = std::chrono::duration<double>(Clock::now() - began_).count();
    return std::move(found_);
  }

 private:
  using Clock = std::chrono::steady_clock;
  using Rows = std::vector<std::uint32_t>;

  void find_impossible() {
    const Bytes largest = *std::ranges::max_element(capacities_);
    Bytes together = 0;
    for (const Bytes capacity : capacities_)
      together = std::min(together, kEndlessCapacity) + capacity;
    PlanningProblem anywhere{problem_.blocks, problem_.gaps, {}};
    for (std::size_t row = 0; row < anywhere.blocks.size(); ++row) {
      anywhere.blocks[row].alignment = 1;  // holes are not the same in several memories
      if (anywhere.blocks[row].size > largest) found_.too_large = row;
    }
    found_.lower_bound = lower_bound_of(anywhere);
    found_.impossible = found_.too_large || found_.lower_bound > together;
  }

  bool spread(PlacingOrder order, PlacingFit fit) {
    SpreadPacking packing{.memories = std::vector<std::size_t>(problem_.blocks.size()),
                          .offsets = std::vector<Bytes>(problem_.blocks.size()),
                          .heights = std::vector<Bytes>(capacities_.size())};
    Rows rest(problem_.blocks.size());
    std::iota(rest.begin(), rest.end(), 0u);
    for (std::size_t memory = 0; memory < capacities_.size(); ++memory) {
      if (!take_all(memory, rest, packing)) fill(memory, order, fit, rest, packing);
    }
    if (rest.empty()) found_.packing = std::move(packing);
    return rest.empty();
  }

  bool take_all(std::size_t memory, Rows& rest, SpreadPacking& packing) {
    PlanningProblem part = part_of(problem_, rest);
    part.places.clear();
    PlannerOptions options = options_;
    options.capacity = capacities_[memory];
    const PlannedMemory planned = plan_memory(part, options, control_);
    found_.nodes += planned.nodes;
    if (!planned.packing) return false;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      put(rest[i], memory, planned.packing->offsets[i], packing);
    }
    rest.clear();
    return true;
  }

  void fill(std::size_t memory, PlacingOrder order, PlacingFit fit, Rows& rest,
            SpreadPacking& packing) {
    const PlanningProblem part = part_of(problem_, rest);
    const std::vector<Bytes> offsets =
        place_within(part.blocks, placing_order(part.blocks, order), fit, capacities_[memory]);
    Rows left;
    for (std::size_t i = 0; i < rest.size(); ++i) {
      if (offsets[i] == kNotPlaced) {
        left.push_back(rest[i]);
      } else {
        put(rest[i], memory, offsets[i], packing);
      }
    }
    rest = std::move(left);
  }

  void put(std::uint32_t row, std::size_t memory, Bytes offset, SpreadPacking& packing) const {
    packing.memories[row] = memory;
    packing.offsets[row] = offset;
    packing.heights[memory] = std::max(packing.heights[memory], offset + problem_.blocks[row].size);
  }

  const PlanningProblem& problem_;
  std::span<const Bytes> capacities_;
  PlannerOptions options_;
  const Control& control_;
  const Clock::time_point began_ = Clock::now();
  SpreadPlan found_;
};

}  // namespace

SpreadPlan plan_memories(const PlanningProblem& problem, std::span<const Bytes> capacities,
                         const PlannerOptions& options, const Control& control) {
  return MemoriesPlanner(problem, capacities, options, control).run();
}

}  // namespace memreplay

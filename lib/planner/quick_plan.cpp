#include "planner/quick_plan.hpp"

#include "planner/endings.hpp"
#include "planner/exact_portfolio.hpp"
#include "planner/ordered.hpp"

namespace memreplay {
namespace {

/// Most pairs of blocks that live at the same time, the work of an order, for all orders together.
constexpr std::uint64_t kPairsOfQuickPlan = 10'000'000;
/// A sweep takes so much less.
constexpr std::uint64_t kSweepsOfAnOrder = 32;
constexpr std::uint64_t kNodesOfQuickPlan = 20'000;

class QuickPlan {
 public:
  QuickPlan(std::span<const PlannedBlock> blocks, const Control& control)
      : control_(control), blocks_(blocks) {
    found_.lower_bound = lower_bound_of(blocks);
  }

  PlannedMemory run() {
    found_.keep(place_by_start(blocks_), "start/best");
    pairs_ = overlapping_pairs(blocks_);
    sweep();
    place_in_orders();
    search_at_bound();
    found_.interrupted = control_.stopped();
    return std::move(found_);
  }

 private:
  bool enough() const { return found_.optimal() || control_.stopped(); }
  /// False where there is no need for it, or too much work was done.
  bool begin(std::uint64_t pairs) {
    if (enough() || spent_ + pairs > kPairsOfQuickPlan) return false;
    spent_ += pairs;
    return true;
  }

  void sweep() {
    for (const EndingsWish& wish : kEndingsWishes) {
      if (!begin(pairs_ / kSweepsOfAnOrder)) return;
      auto packing = place_by_endings(blocks_, wish, [this] { return control_.stopped(); });
      if (packing) found_.keep(std::move(*packing), name_of(wish));
    }
  }

  void place_in_orders() {
    for (const PlacingOrder order : kPlacingOrders) {
      if (!begin(pairs_)) return;
      found_.keep(place_in_order(blocks_, placing_order(blocks_, order), PlacingFit::best),
                  name_of(order, PlacingFit::best));
    }
  }

  void search_at_bound() {
    // The search adds sizes up.
    if (!begin(pairs_) || total_size(blocks_) >= kEndlessCapacity) return;
    PlanningProblem problem;
    problem.blocks.assign(blocks_.begin(), blocks_.end());
    const Sections sections = sections_of(problem);
    ExactPortfolio portfolio(problem, sections, found_.lower_bound);
    const auto outcome = portfolio.run(kNodesOfQuickPlan, 1, [this] { return control_.stopped(); });
    found_.nodes = portfolio.nodes();
    if (outcome == ExactSearch::Outcome::found) {
      found_.keep(packing_of(blocks_, portfolio.offsets()), "exact");
    } else if (outcome != ExactSearch::Outcome::open) {
      ++found_.lower_bound;
    }
  }

  const Control& control_;
  std::span<const PlannedBlock> blocks_;
  std::uint64_t pairs_ = 0;
  std::uint64_t spent_ = 0;
  PlannedMemory found_;
};

}  // namespace

PlannedMemory plan_quickly(std::span<const PlannedBlock> blocks, const Control& control) {
  return QuickPlan(blocks, control).run();
}

}  // namespace memreplay

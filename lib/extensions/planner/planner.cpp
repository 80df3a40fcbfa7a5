#include "extensions/planner/planner.hpp"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>

#include "extensions/planner/endings.hpp"
#include "extensions/planner/exact_search.hpp"
#include "extensions/planner/ordered.hpp"
#include "extensions/planner/sections.hpp"

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

/// Overlapping pairs of blocks that placing in an order goes through, at least.
constexpr double kPairsPerSecond = 1e7;
/// Up to so many overlapping pairs, moving blocks and placing them anew is worth while.
constexpr std::uint64_t kMostPairsOfOrder = 50'000'000;
/// Pairs that are kept in lists for the exact search: 400 MiB.
constexpr std::uint64_t kMostPairsKept = 50'000'000;
constexpr int kTriesAtOnce = 20;
/// Nodes per block of the exact round that comes first.
constexpr std::uint64_t kFirstNodes = 2;
/// Nodes per block of a search by contention; and the most, after which more time does not help.
constexpr std::uint64_t kContentionNodes = 4;
constexpr std::uint64_t kMostContentionNodes = 100'000'000;

class MemoryPlanner {
 public:
  MemoryPlanner(const PlanningProblem& problem, const PlannerOptions& options,
                const Control& control)
      : problem_(problem), options_(options), control_(control) {}

  PlannedMemory run() {
    found_.lower_bound = lower_bound_of(problem_);
    pairs_ = overlapping_pairs(problem_.blocks);
    if (options_.capacity && *options_.capacity < found_.lower_bound) {
      found_.impossible = true;
    } else {
      search();
    }
    found_.interrupted = control_.stopped();
    found_.seconds = elapsed();
    keep_within_capacity();
    return std::move(found_);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void search() {
    const PlanSolver solver = options_.solver;
    const bool any = solver == PlanSolver::automatic;
    place_greedily();
    const bool searchable = most_needed() < kEndlessCapacity && pairs_ <= kMostPairsKept;
    if (searchable && (any || solver == PlanSolver::exact)) {
      search_exactly();
    } else if (searchable && solver == PlanSolver::contention) {
      search_by_contention();
    } else if (any || solver == PlanSolver::improve) {
      while (!enough() && improve()) {
      }
    }
  }

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - began_).count(); }
  bool over() const { return control_.stopped() || elapsed() >= options_.seconds; }
  bool goes_lower() const { return !options_.capacity || options_.minimise; }
  Bytes height() const { return found_.packing ? found_.packing->height : kEndlessCapacity; }

  /// Nothing is left to be found, or no time.
  bool enough() const {
    const Bytes wanted =
        goes_lower() ? found_.lower_bound : std::max(*options_.capacity, found_.lower_bound);
    return (found_.packing && height() <= wanted) || found_.impossible || over();
  }

  /// The bound is above every given place.
  Bytes most_needed() const { return total_size(problem_.blocks, found_.lower_bound); }

  void show(const std::string& what) const {
    control_.show(what, std::min(1.0, elapsed() / options_.seconds));
  }

  void place_greedily() {
    if (problem_.places.empty()) {
      found_.keep(place_by_start(problem_.blocks), "start/best");
      sweep();
    } else if (places_contradict()) {
      found_.impossible = true;
    }
    place_in_orders();
  }

  /// The blocks whose places are given, alone.
  bool places_contradict() const {
    std::vector<std::uint32_t> given;
    std::vector<Bytes> offsets;
    for (std::uint32_t row = 0; row < problem_.blocks.size(); ++row) {
      if (!problem_.places[row]) continue;
      given.push_back(row);
      offsets.push_back(*problem_.places[row]);
    }
    const PlanningProblem alone = part_of(problem_, given);
    return first_conflict(alone, packing_of(alone.blocks, std::move(offsets))).has_value();
  }

  void sweep() {
    for (const EndingsWish& wish : kEndingsWishes) {
      if (enough() || patience_ends()) return;
      show("sweeping over time");
      auto packing = place_by_endings(problem_.blocks, wish, [this] { return over(); });
      if (packing) found_.keep(std::move(*packing), name_of(wish));
    }
  }

  void place_in_orders() {
    for (const PlacingOrder order : kPlacingOrders) {
      if (enough() || patience_ends()) return;
      const auto rows = placing_order(problem_.blocks, order);
      for (const PlacingFit fit : {PlacingFit::best, PlacingFit::first}) {
        const double left = options_.seconds - elapsed();
        if (enough() || static_cast<double>(pairs_) > left * kPairsPerSecond) return;
        show("placing in orders");
        Packing packing = place_in_order(problem_.blocks, rows, fit, problem_.places);
        if (!found_.keep(std::move(packing), name_of(order, fit))) continue;
        order_ = order;
        fit_ = fit;
      }
    }
  }

  /// What is greedy takes little of the time where others are better.
  bool patience_ends() const {
    return options_.solver != PlanSolver::greedy && pairs_ <= kMostPairsOfOrder &&
           elapsed() > options_.seconds / 5;
  }

  /// False where there is no order to begin with.
  bool improve() {
    if (pairs_ > kMostPairsOfOrder) return false;
    if (!improvement_) {
      auto rows = placing_order(problem_.blocks, order_);
      Packing packing = place_in_order(problem_.blocks, rows, fit_, problem_.places);
      improvement_.emplace(problem_.blocks, problem_.places, std::move(rows), std::move(packing),
                           fit_, options_.seed);
    }
    show("moving blocks");
    for (int i = 0; i < kTriesAtOnce && !enough(); ++i) {
      if (improvement_->run(1)) found_.keep(improvement_->packing(), "local search");
    }
    return true;
  }

  /// Rounds of ever more nodes; in each the space between what is proved impossible and what was
  /// found is halved, as if what a search leaves open were impossible.
  void search_exactly() {
    if (enough()) return;
    show("exact search");
    sections_ = sections_of(problem_);
    std::uint64_t nodes = kFirstNodes * (problem_.blocks.size() + 1);
    for (; !enough(); nodes *= 2) {
      if (goes_lower()) {
        halve(nodes);
      } else {
        decide(*options_.capacity, nodes);
      }
      if (!enough() && options_.solver == PlanSolver::automatic) improve();
    }
    for (const auto& [capacity, portfolio] : open_) found_.nodes += portfolio.nodes();
  }

  void halve(std::uint64_t nodes) {
    Bytes low = found_.lower_bound;
    const Bytes most = options_.capacity.value_or(most_needed());
    for (Bytes capacity = low; !enough();) {
      const Bytes high = std::min(height(), most + 1);
      if (low >= high) return;
      if (decide(capacity, nodes)) {
        low = std::max(low, found_.lower_bound);
      } else {
        low = capacity + 1;
      }
      capacity = low + (std::min(height(), most + 1) - std::min(height(), low)) / 2;
    }
  }

  /// Halves what lies below the best; where one search gives up or takes long, above its capacity.
  void search_by_contention() {
    if (enough()) return;
    sections_ = sections_of(problem_);
    if (sections_.has_windows()) return;
    const Bytes most = options_.capacity.value_or(most_needed());
    const auto highest = [&] { return std::min(height(), most + 1) - 1; };
    std::uint64_t nodes = kContentionNodes * (problem_.blocks.size() + 1);
    for (; !enough() && nodes <= kMostContentionNodes; nodes *= 4) {
      Bytes low = goes_lower() ? found_.lower_bound : most;
      while (low <= highest() && !enough()) {
        const Bytes capacity = low + (highest() - low) / 2;
        if (!fits_by_contention(capacity, nodes)) low = capacity + 1;
      }
    }
  }

  bool fits_by_contention(Bytes capacity, std::uint64_t nodes) {
    show("search by contention");
    ContentionSearch search(problem_, sections_, capacity);
    auto outcome = ContentionSearch::Outcome::open;
    for (; outcome == ContentionSearch::Outcome::open && nodes != 0 && !over(); --nodes) {
      outcome = search.run(1);
    }
    if (outcome != ContentionSearch::Outcome::found) return false;
    found_.keep(packing_of(problem_.blocks, search.offsets()), "contention");
    return true;
  }

  /// True where something fits.
  bool decide(Bytes capacity, std::uint64_t nodes) {
    if (height() <= capacity) return true;
    auto [at, is_new] = open_.try_emplace(capacity, problem_, sections_, capacity);
    ExactPortfolio& portfolio = at->second;
    show("exact search");
    const auto outcome = portfolio.run(nodes, options_.threads, [this] { return over(); });
    if (outcome == ExactSearch::Outcome::open) return false;
    if (outcome == ExactSearch::Outcome::found) {
      found_.keep(packing_of(problem_.blocks, portfolio.offsets()), "exact");
    } else if (!sections_.has_windows()) {
      found_.lower_bound = std::max(found_.lower_bound, capacity + 1);
      found_.impossible = found_.lower_bound > options_.capacity.value_or(most_needed());
    }
    found_.nodes += portfolio.nodes();
    open_.erase(at);
    return outcome == ExactSearch::Outcome::found;
  }

  void keep_within_capacity() {
    if (!options_.capacity || height() <= *options_.capacity) return;
    found_.packing.reset();
    found_.found_by.clear();
  }

  const PlanningProblem& problem_;
  const PlannerOptions& options_;
  const Control& control_;
  const Clock::time_point began_ = Clock::now();
  PlannedMemory found_;
  std::uint64_t pairs_ = 0;
  PlacingOrder order_ = PlacingOrder::size;
  PlacingFit fit_ = PlacingFit::best;
  std::optional<OrderImprovement> improvement_;
  Sections sections_;
  std::map<Bytes, ExactPortfolio> open_;  ///< by capacity
};

}  // namespace

bool PlannedMemory::keep(Packing found, std::string by) {
  if (packing && found.height >= packing->height) return false;
  packing = std::move(found);
  found_by = std::move(by);
  return true;
}

PlannedMemory plan_memory(const PlanningProblem& problem, const PlannerOptions& options,
                          const Control& control) {
  return MemoryPlanner(problem, options, control).run();
}

std::uint64_t events_of_quick_plan(std::span<const PlannedBlock> blocks) {
  // Measured on random requests, 5,000 of them live: pairs that an order takes in the time in which
  // PyTorch's allocator replays an event with all that a comparison needs, and blocks placed by
  // their start.
  constexpr std::uint64_t kPairsOfAnEvent = 8;
  constexpr std::uint64_t kEventsOfABlock = 5;
  const std::uint64_t pairs = overlapping_pairs(blocks);
  const std::uint64_t sweep = pairs / kSweepsOfAnOrder;
  std::uint64_t spent = 0;
  const auto spend = [&](std::uint64_t work, std::size_t times) {
    for (; times > 0 && spent + work <= kPairsOfQuickPlan; --times) spent += work;
  };
  spend(sweep, std::size(kEndingsWishes));
  spend(pairs, std::size(kPlacingOrders) + 1);
  return kEventsOfABlock * blocks.size() + spent / kPairsOfAnEvent;
}

PlannedMemory plan_quickly(std::span<const PlannedBlock> blocks, const Control& control) {
  return QuickPlan(blocks, control).run();
}

}  // namespace memreplay

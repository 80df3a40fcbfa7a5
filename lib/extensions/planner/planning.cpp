#include "extensions/planner/planning.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "core/text.hpp"
#include "extensions/planner/ggml.hpp"
#include "extensions/planner/groups.hpp"
#include "extensions/planner/ordered.hpp"
#include "extensions/planner/planner.hpp"

namespace memreplay {
namespace {

PlanMark mark_of(std::string_view text, std::string_view dynamic) {
  if (text.find(" Layer : ") != text.npos) {
    if (dynamic.empty() || text.find(dynamic) == text.npos) return PlanMark::other;
    if (text.ends_with("-start")) return PlanMark::region_begins;
    return text.ends_with("-end") ? PlanMark::region_ends : PlanMark::other;
  }
  return text.find("micro-batch") == text.npos ? PlanMark::iteration : PlanMark::phase;
}

constexpr std::uint64_t kForever = PlannedRequest::kForever;
/// Requests from this size on have no place in any plan.
constexpr Bytes kTooLarge = Bytes{1} << 50;

class Foresight {
 public:
  explicit Foresight(const Program& program)
      : program_(program), of_slot_(program.slot_count, kNone), parked_(program.parkings, kNone) {}

  PlannedProgram look() {
    for (const Program::Block& block : program_.blocks) {
      if (block.request.size != 0) open(block.slot, {.size = block.request.size});
    }
    auto act = program_.acts.begin();
    for (std::uint64_t event = 0; event < program_.size(); ++event) {
      for (; act != program_.acts.end() && act->before <= event; ++act) look_at(*act);
      look_at(event);
    }
    for (; act != program_.acts.end(); ++act) look_at(*act);
    return std::move(planned_);
  }

 private:
  static constexpr std::size_t kNone = SIZE_MAX;

  void look_at(const InferredCall& act) {
    if (act.kind == InferredCall::Kind::park) {
      parked_[act.parked] = std::exchange(of_slot_[program_.slots[act.before]], kNone);
    } else if (act.kind == InferredCall::Kind::complete) {
      close(parked_[act.parked], act.before + 1);
    }
  }

  void look_at(std::uint64_t event) {
    const Slot slot = program_.slots[event];
    const Op op = program_.ops[event];
    if (is_request(op)) {
      if (program_.sizes[event] == 0) return;
      if (op == Op::oom && program_.refusals_stand) return;
      const Request request = program_.request(event);
      const bool refused = op == Op::oom;  // where it is served, freed at once
      open(refused ? kNoSlot : slot, {.size = request.size,
                                      .alignment = request.alignment,
                                      .start = event + 1,
                                      .end = refused ? event + 2 : kForever,
                                      .refused = refused});
    } else if (op == Op::free || op == Op::free_completed) {
      close(of_slot_[slot], event + 1);
    } else if (op == Op::marker) {
      planned_.markers.push_back({event + 1, program_.tags.empty() ? 0 : program_.tags[event]});
    }
  }

  void open(Slot slot, const PlannedRequest& request) {
    if (slot != kNoSlot) of_slot_[slot] = planned_.requests.size();
    planned_.requests.push_back(request);
  }

  void close(std::size_t& request, std::uint64_t time) {
    if (request == kNone) return;
    planned_.requests[request].end = time;
    request = kNone;
  }

  const Program& program_;
  std::vector<std::size_t> of_slot_;  ///< index of the live request
  std::vector<std::size_t> parked_;   ///< likewise, by number
  PlannedProgram planned_;
};

/// Overlapping pairs of blocks that the planner goes through: some seconds.
constexpr std::uint64_t kMostPairs = 100'000'000;
constexpr int kSecondsOfSearch = 10;

/// Blocks to be packed.
struct PhasedBlocks {
  std::span<const PlannedBlock> blocks;
  std::span<const std::uint64_t> phases;
};

/// `orders`: how many orders there is time for. `by` becomes the algorithm that packed.
Packing pack(const PhasedBlocks& asked, std::string_view algorithm, std::size_t orders,
             std::string_view& by) {
  const auto& [blocks, phases] = asked;
  if (const auto bar = algorithm.rfind('|'); bar != algorithm.npos) {
    Packing first = pack(asked, algorithm.substr(0, bar), orders, by);
    algorithm.remove_prefix(bar + 1);
    if (algorithm == "groups" && phases.empty()) return first;
    std::string_view by_second;
    Packing second = pack(asked, algorithm, orders, by_second);
    if (second.height >= first.height) return first;
    by = by_second;
    return second;
  }
  by = algorithm;
  if (algorithm == "layers") return layered_fit(blocks);
  if (algorithm == "groups") return group_fit(blocks, phases);
  if (algorithm.starts_with("ggml/")) return place_as_ggml(blocks);
  const auto slash = algorithm.find('/');
  const std::string_view name = algorithm.substr(0, slash);
  const PlacingFit fit =
      algorithm.substr(slash + 1) == "first" ? PlacingFit::first : PlacingFit::best;
  if (name == "best") {
    BestPacking best = best_of_orders(blocks, fit, std::min(orders, std::size(kPlacingOrders)));
    if (orders >= std::size(kPlacingOrders)) return std::move(best.packing);
    Packing by_start = place_by_start(blocks);
    return by_start.height < best.packing.height ? by_start : std::move(best.packing);
  }
  for (const PlacingOrder order : kPlacingOrders) {
    if (name_of(order) == name) return place_in_order(blocks, placing_order(blocks, order), fit);
  }
  throw std::logic_error("no planner has this algorithm");
}

/// As the planner finds it in time; `shortened` then says how far from the lowest it may be.
Packing search_in_time(std::span<const PlannedBlock> blocks, std::string& shortened) {
  PlanningProblem problem;
  problem.blocks.assign(blocks.begin(), blocks.end());
  PlannedMemory planned = plan_memory(problem, {.seconds = kSecondsOfSearch}, {});
  if (!planned.optimal()) {
    shortened = fmt::format(
        "the search for its plan ended after {} s: it is at most {:.2g} % above the lowest",
        kSecondsOfSearch,
        100.0 * static_cast<double>(planned.packing->height - planned.lower_bound) /
            static_cast<double>(planned.lower_bound));
  }
  return *std::move(planned.packing);
}

/// As asked for, or by start alone where that would take minutes; `shortened` then says so.
Packing pack_in_time(const PhasedBlocks& asked, std::string_view algorithm, std::string& shortened,
                     std::string_view& by) {
  const auto& blocks = asked.blocks;
  if (algorithm.starts_with("ggml/")) {
    shortened = "a model that follows the source of ggml's graph arena, not compared with it";
    return pack(asked, algorithm, 1, by);
  }
  if (algorithm == "search") return search_in_time(blocks, shortened);
  const std::uint64_t pairs = overlapping_pairs(blocks);
  const std::size_t orders = pairs == 0 ? SIZE_MAX : kMostPairs / pairs;
  const bool several = algorithm.starts_with("best");
  if (orders == 0) {
    shortened = fmt::format(
        "{} pairs of blocks are live at the same time, too many for the chosen order: its plan "
        "places them by start",
        human_count(pairs));
    return place_by_start(blocks);
  }
  if (several && orders < std::size(kPlacingOrders)) {
    shortened =
        fmt::format("{} pairs of blocks are live at the same time: its plan tried {} of {} orders",
                    human_count(pairs), orders + 1, std::size(kPlacingOrders));
  }
  return pack(asked, algorithm, orders, by);
}

/// The most requests of at most `above` bytes that live at once.
Bytes small_peak_of(const PlannedProgram& program, Bytes above, std::uint64_t until) {
  std::vector<std::pair<std::uint64_t, int>> changes;
  for (const PlannedRequest& request : program.requests) {
    if (request.size > above || request.start >= until || request.out_of_plan) continue;
    changes.emplace_back(request.start, 1);
    changes.emplace_back(request.end, -1);
  }
  std::sort(changes.begin(), changes.end());
  std::int64_t live = 0;
  std::int64_t peak = 0;
  for (const auto& [time, change] : changes) peak = std::max(peak, live += change);
  return static_cast<Bytes>(peak);
}

class Planning {
 public:
  Planning(const PlannedProgram& program, const PlanWish& wish, ProgramPhases phases)
      : program_(program), wish_(wish), phases_(std::move(phases)) {
    plan_.alignment = wish.alignment;
    plan_.base_alignment = wish.alignment;
    plan_.above = wish.above;
  }

  Plan whole() {
    for (const PlannedRequest& request : program_.requests) {
      if (is_planned(request)) add(request, request.end);
    }
    plan_.small_peak = small_peak_of(program_, wish_.above, kForever);
    plan_.repeats_from = plan_.entries.size();
    return finish();
  }

  /// What comes before the first marker and `iterations` of those after it. The last repeats: what
  /// lives on when it ends keeps its place to itself for all of it, and later copies too.
  Plan iterations(std::size_t iterations) {
    const auto& markers = phases_.iterations;
    const std::uint64_t last_begins = markers[iterations - 1];
    const std::uint64_t last_ends = markers[iterations];
    const std::uint64_t length = last_ends - last_begins;
    std::size_t marker = 0;
    const auto note_iterations = [&](std::uint64_t time) {
      for (; marker < iterations && markers[marker] < time; ++marker) {
        plan_.iterations.push_back(plan_.entries.size());
      }
    };
    for (const PlannedRequest& request : program_.requests) {
      if (request.start >= last_ends) break;
      note_iterations(request.start);
      if (!is_planned(request)) continue;
      PlannedRequest planned = request;
      if (request.start < last_begins) {
        if (request.end > last_ends) planned.end = kForever;
      } else if (request.end > last_ends) {
        planned.out_of_plan = request.end > request.start + length;  // its next copy comes before
        planned.start = last_begins;
        planned.end = last_ends;
      }
      add(planned, planned.end);
    }
    note_iterations(last_ends);
    note_regions({markers.data(), iterations}, last_ends);
    plan_.small_peak = small_peak_of(program_, wish_.above, last_ends);
    plan_.repeats_from = plan_.iterations.back();
    // The repeating iteration must hold something, or there is nothing to go back to.
    if (plan_.repeats_from == plan_.entries.size()) plan_.iterations.clear();
    plan_.clairvoyant =
        program_.requests.empty() || program_.requests.back().start < last_ends;  // no others
    return finish();
  }

 private:
  bool is_planned(const PlannedRequest& request) const {
    return request.size > wish_.above && !phases_.in_region(request.start);
  }

  /// Notes the regions of the iterations that begin at these times; the last ends at `until`.
  void note_regions(std::span<const std::uint64_t> begins, std::uint64_t until) {
    const auto before = [&](std::uint64_t time) {
      return std::ranges::lower_bound(phases_.regions, time, {}, &TimeSpan::from) -
             phases_.regions.begin();
    };
    phases_.regions.resize(static_cast<std::size_t>(before(until)));
    for (const std::uint64_t begin : begins) {
      plan_.regions_from.push_back(static_cast<std::size_t>(before(begin)));
    }
  }

  void add(const PlannedRequest& request, std::uint64_t end) {
    Plan::Entry entry{.size = request.size};
    const Bytes alignment = std::max(wish_.alignment, request.alignment);
    entry.placed = !request.out_of_plan && request.size < kTooLarge && alignment < kTooLarge;
    if (entry.placed) {
      rows_.push_back(plan_.entries.size());
      blocks_.push_back({request.start, end, round_up(request.size, wish_.alignment), alignment});
      plan_.base_alignment = std::max(plan_.base_alignment, alignment);
    }
    plan_.entries.push_back(entry);
  }

  Plan finish() {
    std::string_view by;
    const std::vector<PlannedBlock> blocks = at_own_times(blocks_);
    const Packing packing =
        pack_in_time({blocks, phases_.phases}, wish_.algorithm, plan_.shortened, by);
    plan_.grouped = by == "groups";
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      plan_.entries[rows_[i]].offset = packing.offsets[i];
    }
    plan_.height = packing.height;
    plan_.lower_bound = lower_bound_of(blocks_);
    plan_.regions = free_during(blocks_, packing, phases_.regions);
    plan_.marks = std::move(phases_.marks);
    if (!wish_.dynamic.empty() && plan_.regions.empty() && plan_.shortened.empty()) {
      plan_.shortened = fmt::format("no mark of a layer that begins holds '{}'", wish_.dynamic);
    }
    return std::move(plan_);
  }

  const PlannedProgram& program_;
  const PlanWish& wish_;
  ProgramPhases phases_;
  Plan plan_;
  std::vector<PlannedBlock> blocks_;
  std::vector<std::size_t> rows_;  ///< entry of each block
};

}  // namespace

PlannedProgram foresee(const Program& program) { return Foresight(program).look(); }

std::shared_ptr<const Plan> make_plan(const Program& program, const PlanWish& wish,
                                      std::span<const std::string> texts) {
  const PlannedProgram planned = foresee(program);
  ProgramPhases phases = phases_of(planned.markers, texts, wish.dynamic);
  const std::size_t begun = phases.iterations.size();
  const bool by_iterations = wish.scope == PlanWish::Scope::first_iterations && begun > 1;
  const std::size_t iterations =
      by_iterations ? std::min<std::size_t>(wish.iterations, begun - 1) : 0;
  Planning planning(planned, wish, std::move(phases));
  return std::make_shared<const Plan>(by_iterations ? planning.iterations(iterations)
                                                    : planning.whole());
}

bool ProgramPhases::in_region(std::uint64_t time) const {
  const auto after = std::ranges::upper_bound(regions, time, {}, &TimeSpan::from);
  return after != regions.begin() && time < std::prev(after)->to;
}

ProgramPhases phases_of(std::span<const PlannedMarker> markers, std::span<const std::string> texts,
                        std::string_view dynamic) {
  ProgramPhases found;
  bool any_phase = false;
  bool in_region = false;
  for (const PlannedMarker& marker : markers) {
    std::string_view text;
    if (marker.text < texts.size()) text = texts[marker.text];
    const PlanMark mark = mark_of(text, dynamic);
    found.marks.push_back(mark);
    if (mark == PlanMark::other) continue;
    if (mark == PlanMark::iteration) found.iterations.push_back(marker.time);
    any_phase |= mark == PlanMark::phase;
    if (mark == PlanMark::iteration || mark == PlanMark::phase) {
      found.phases.push_back(marker.time);
      if (mark == PlanMark::phase) continue;
    }
    if (in_region) found.regions.back().to = marker.time;
    in_region = mark == PlanMark::region_begins;
    if (in_region) found.regions.push_back({marker.time, PlannedRequest::kForever});
  }
  if (!any_phase) found.phases.clear();
  return found;
}

}  // namespace memreplay

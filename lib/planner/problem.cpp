#include "planner/problem.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace memreplay {
namespace {

/// Bytes that are taken from a time on, or given up.
struct UseChange {
  std::uint64_t time = 0;
  bool begins = false;  ///< ends come first at equal times
  std::size_t use = 0;

  friend auto operator<=>(const UseChange&, const UseChange&) = default;
};

std::vector<UseChange> changes_of(const std::vector<BlockUse>& uses) {
  std::vector<UseChange> changes;
  changes.reserve(2 * uses.size());
  for (std::size_t i = 0; i < uses.size(); ++i) {
    changes.push_back({uses[i].from, true, i});
    changes.push_back({uses[i].to, false, i});
  }
  std::sort(changes.begin(), changes.end());
  return changes;
}

Bytes peak_of_use(const PlanningProblem& problem) {
  const std::vector<BlockUse> uses = uses_of(problem);
  Bytes live = 0;
  Bytes peak = 0;
  for (const UseChange& change : changes_of(uses)) {
    const Bytes bytes = uses[change.use].high - uses[change.use].low;
    live += change.begins ? bytes : Bytes{0} - bytes;
    peak = std::max(peak, live);
  }
  return peak;
}

bool misplaced(const PlanningProblem& problem, const Packing& packing, std::size_t row) {
  const PlannedBlock& block = problem.blocks[row];
  const Bytes at = packing.offsets[row];
  const auto place = problem.place_of(row);
  return at % block.alignment != 0 || at + block.size > packing.height || (place && *place != at);
}

}  // namespace

bool PlanningProblem::plain() const {
  return gaps.empty() &&
         std::none_of(places.begin(), places.end(), [](const auto& place) { return place; });
}

std::vector<BlockUse> uses_of(const PlanningProblem& problem) {
  std::vector<BlockUse> uses;
  uses.reserve(problem.blocks.size() + 2 * problem.gaps.size());
  auto gap = problem.gaps.begin();
  for (std::uint32_t row = 0; row < problem.blocks.size(); ++row) {
    const PlannedBlock& block = problem.blocks[row];
    std::uint64_t from = block.start;
    for (; gap != problem.gaps.end() && gap->row == row; ++gap) {
      if (from < gap->from) uses.push_back({row, from, gap->from, 0, block.size});
      if (gap->low < gap->high) uses.push_back({row, gap->from, gap->to, gap->low, gap->high});
      from = gap->to;
    }
    if (from < block.end) uses.push_back({row, from, block.end, 0, block.size});
  }
  return uses;
}

std::optional<std::pair<std::size_t, std::size_t>> first_conflict(const PlanningProblem& problem,
                                                                  const Packing& packing) {
  for (std::size_t row = 0; row < problem.blocks.size(); ++row) {
    if (misplaced(problem, packing, row)) return std::pair{row, row};
  }
  const std::vector<BlockUse> uses = uses_of(problem);
  std::map<Bytes, std::size_t> taken;  // by first byte: the use
  for (const UseChange& change : changes_of(uses)) {
    const BlockUse& use = uses[change.use];
    const Bytes from = packing.offsets[use.row] + use.low;
    if (!change.begins) {
      taken.erase(from);
      continue;
    }
    const auto above = taken.lower_bound(from);
    if (above != taken.end() && above->first < from + (use.high - use.low)) {
      return std::pair<std::size_t, std::size_t>{uses[above->second].row, use.row};
    }
    if (above != taken.begin()) {
      const BlockUse& below = uses[std::prev(above)->second];
      if (packing.offsets[below.row] + below.high > from) {
        return std::pair<std::size_t, std::size_t>{below.row, use.row};
      }
    }
    taken.emplace(from, change.use);
  }
  return std::nullopt;
}

Bytes lower_bound_of(const PlanningProblem& problem) {
  Bytes bound = problem.gaps.empty() ? lower_bound_of(problem.blocks) : peak_of_use(problem);
  for (std::size_t row = 0; row < problem.blocks.size(); ++row) {
    bound = std::max(bound, problem.place_of(row).value_or(0) + problem.blocks[row].size);
  }
  return bound;
}

PlanningProblem part_of(const PlanningProblem& problem, std::span<const std::uint32_t> rows) {
  PlanningProblem part;
  for (const std::uint32_t row : rows) {
    const auto number = static_cast<std::uint32_t>(part.blocks.size());
    part.blocks.push_back(problem.blocks[row]);
    if (!problem.places.empty()) part.places.push_back(problem.places[row]);
    auto gap = std::lower_bound(problem.gaps.begin(), problem.gaps.end(), row,
                                [](const BlockGap& g, std::uint32_t r) { return g.row < r; });
    for (; gap != problem.gaps.end() && gap->row == row; ++gap) {
      part.gaps.push_back(*gap);
      part.gaps.back().row = number;
    }
  }
  return part;
}

}  // namespace memreplay

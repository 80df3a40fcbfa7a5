#include "extensions/planner/problem.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace memreplay {
namespace {

/// Sizes in a row by which a place in a step is known again.
constexpr std::size_t kPhrase = 16;
constexpr std::size_t kMostLengths = 32;

/// A number for the phrase that begins at each row.
std::vector<std::uint64_t> phrases_of(std::span<const PlannedBlock> blocks) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15;
  std::uint64_t power = 1;
  for (std::size_t i = 0; i < kPhrase; ++i) power *= kFactor;
  std::vector<std::uint64_t> phrases;
  std::uint64_t phrase = 0;
  for (std::size_t row = 0; row < blocks.size(); ++row) {
    phrase = phrase * kFactor + blocks[row].size;
    if (row >= kPhrase) phrase -= power * blocks[row - kPhrase].size;
    if (row + 1 >= kPhrase) phrases.push_back(phrase);
  }
  return phrases;
}

/// How far it is from phrases to where they come next: what is far and frequent, rising.
std::vector<std::size_t> likely_lengths(std::span<const PlannedBlock> blocks) {
  const std::vector<std::uint64_t> phrases = phrases_of(blocks);
  std::vector<std::pair<std::uint64_t, std::size_t>> by_phrase;
  for (std::size_t row = 0; row < phrases.size(); ++row) by_phrase.emplace_back(phrases[row], row);
  std::sort(by_phrase.begin(), by_phrase.end());
  std::map<std::size_t, std::size_t> frequency;
  for (std::size_t i = 1; i < by_phrase.size(); ++i) {
    if (by_phrase[i].first == by_phrase[i - 1].first) {
      ++frequency[by_phrase[i].second - by_phrase[i - 1].second];
    }
  }
  std::vector<std::pair<std::size_t, std::size_t>> by_weight;
  for (const auto& [length, count] : frequency) by_weight.emplace_back(length * count, length);
  std::sort(by_weight.rbegin(), by_weight.rend());
  by_weight.resize(std::min(by_weight.size(), kMostLengths));
  std::vector<std::size_t> lengths;
  for (const auto& [weight, length] : by_weight) lengths.push_back(length);
  std::sort(lengths.begin(), lengths.end());
  return lengths;
}

RepeatedStep longest_run(std::span<const PlannedBlock> blocks, std::size_t length) {
  RepeatedStep longest{.length = length};
  std::size_t run = 0;
  for (std::size_t row = length; row < blocks.size(); ++row) {
    run = blocks[row].size == blocks[row - length].size ? run + 1 : 0;
    if (run >= length && run + length > longest.rows) {
      longest.first = row + 1 - run - length;
      longest.rows = run + length;
    }
  }
  return longest;
}

/// Both begin with these rows.
bool live_equally_long(std::span<const PlannedBlock> blocks, std::size_t one, std::size_t other,
                       std::size_t length) {
  for (std::size_t i = 0; i < length; ++i) {
    if (blocks[one + i].length() != blocks[other + i].length()) return false;
  }
  return true;
}

/// Each step has one such block; as many of them live at once as its life is long in steps.
void add_in_every_step(std::uint64_t start, const PlannedBlock& block, std::uint64_t step,
                       PlanningProblem& problem) {
  PlannedBlock whole = block;
  whole.start = 0;
  whole.end = step;
  problem.blocks.insert(problem.blocks.end(), block.length() / step, whole);
  const std::uint64_t rest = block.length() % step;
  if (rest == 0) return;
  const std::uint64_t end = start + rest;
  problem.blocks.push_back(whole);
  if (end > step) {
    const auto row = static_cast<std::uint32_t>(problem.blocks.size() - 1);
    if (end - step < start) problem.gaps.push_back({row, end - step, start, 0, 0});
  } else {
    problem.blocks.back().start = start;
    problem.blocks.back().end = end;
  }
}

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

std::optional<RepeatedStep> repeated_step_of(std::span<const PlannedBlock> blocks) {
  RepeatedStep best;
  for (const std::size_t length : likely_lengths(blocks)) {
    const RepeatedStep step = longest_run(blocks, length);
    if (step.rows > best.rows) best = step;
  }
  // What is all of one size has no steps.
  if (best.length <= 1 || 4 * best.rows < blocks.size()) return std::nullopt;
  return best;
}

PlanningProblem problem_of(const RepeatedStep& step, std::span<const PlannedBlock> blocks) {
  const std::size_t from = step.first + (step.steps() - 2) * step.length;
  const std::size_t to = from + step.length;
  const std::uint64_t began = blocks[from].start;
  const std::uint64_t ended = blocks[to].start;
  PlanningProblem problem;
  const std::size_t other = step.steps() == 2 ? to : from - step.length;
  if (began == ended || !live_equally_long(blocks, from, other, step.length)) return problem;
  for (std::size_t row = 0; row < step.first; ++row) {
    if (blocks[row].end < ended) continue;
    problem.blocks.push_back(blocks[row]);
    problem.blocks.back().start = 0;
    problem.blocks.back().end = ended - began;
  }
  for (std::size_t row = from; row < to; ++row) {
    add_in_every_step(blocks[row].start - began, blocks[row], ended - began, problem);
  }
  return problem;
}

}  // namespace memreplay

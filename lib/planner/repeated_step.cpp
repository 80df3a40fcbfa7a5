#include "planner/repeated_step.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

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

}  // namespace

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

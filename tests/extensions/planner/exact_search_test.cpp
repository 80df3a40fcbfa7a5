#include "extensions/planner/exact_search.hpp"

#include <gtest/gtest.h>

#include <cstdlib>

#include "extensions/planner/brute_force.hpp"
#include "extensions/planner/random_problem.hpp"

namespace memreplay {
namespace {

using Outcome = ExactSearch::Outcome;

/// What the search says at a capacity; a packing that it finds is looked at.
bool fits(const PlanningProblem& problem, Bytes capacity, std::string_view word) {
  const Sections sections = sections_of(problem);
  ExactSearch search(problem, sections, capacity, word);
  Outcome outcome = Outcome::open;
  while (outcome == Outcome::open) outcome = search.run(3);
  if (outcome == Outcome::impossible) return false;
  const Packing packing = packing_of(problem.blocks, search.offsets());
  EXPECT_FALSE(first_conflict(problem, packing));
  EXPECT_LE(packing.height, capacity);
  return true;
}

void expect_as_brute_force(const PlanningProblem& problem, std::string_view word) {
  const Bytes lowest = BruteForce(problem).lowest_height();
  if (lowest == UINT64_MAX) {
    EXPECT_FALSE(fits(problem, 1000, word));
    return;
  }
  ASSERT_LE(lower_bound_of(problem), lowest);
  ASSERT_TRUE(fits(problem, lowest, word));
  ASSERT_TRUE(fits(problem, lowest + 1, word));
  ASSERT_FALSE(fits(problem, lowest - 1, word));
}

std::uint64_t instances_to_try() {
  const char* count = std::getenv("MEMREPLAY_PLANNER_INSTANCES");
  return count == nullptr ? 3000 : std::strtoull(count, nullptr, 10);
}

TEST(ExactSearch, StacksWhatLivesTogetherAndReusesWhatEnded) {
  const PlanningProblem problem{{{0, 2, 3}, {1, 4, 4}, {3, 5, 3}}, {}, {}};
  EXPECT_TRUE(fits(problem, 7, "WAT"));
  EXPECT_FALSE(fits(problem, 6, "WAT"));
}

TEST(ExactSearch, NothingToPlaceFitsAnywhere) { EXPECT_TRUE(fits({}, 0, "TAW")); }

TEST(ExactSearch, ABlockThatIsNeverInUseIsInNobodysWay) {
  const PlanningProblem problem{{{0, 2, 3}, {0, 2, 3}}, {{0, 0, 2, 0, 0}}, {}};
  EXPECT_TRUE(fits(problem, 3, "TWA"));
}

TEST(ExactSearch, OfAGapWithAWindowOnlyThatIsInUse) {
  const PlanningProblem problem{{{0, 9, 8}, {3, 5, 6}}, {{0, 2, 6, 0, 2}}, {}};
  EXPECT_TRUE(fits(problem, 8, "TWA"));
  EXPECT_FALSE(fits(problem, 7, "TWA"));
}

TEST(ExactSearch, AgreesWithBruteForceOnRandomInstances) {
  constexpr std::string_view kWords[] = {"WAT", "TAW", "TWA", "Z"};
  std::mt19937_64 random(11);
  const std::uint64_t count = instances_to_try();
  for (std::uint64_t i = 0; i < count; ++i) {
    const RandomBlocks blocks = {.count = 2 + random() % 9,
                                 .last_time = 4 + random() % 16,
                                 .largest = 2 + random() % 12,
                                 .alignments = i % 3 == 0 ? 3 : 1};
    const RandomProblem wish{blocks, i % 5 == 1, i % 7 == 2};
    SCOPED_TRACE(i);
    ASSERT_NO_FATAL_FAILURE(
        expect_as_brute_force(random_problem(random, wish), kWords[i % std::size(kWords)]));
  }
}

TEST(ExactSearch, TimeMayRunBackwards) {
  std::mt19937_64 random(12);
  for (int i = 0; i < 300; ++i) {
    PlanningProblem problem{random_blocks(random, {.count = 12, .last_time = 14}), {}, {}};
    const Bytes capacity = lower_bound_of(problem) + random() % 2;
    const bool forwards = fits(problem, capacity, "WAT");
    for (PlannedBlock& block : problem.blocks) {
      block = {100 - block.end, 100 - block.start, block.size, block.alignment};
    }
    ASSERT_EQ(fits(problem, capacity, "WAT"), forwards);
  }
}

}  // namespace
}  // namespace memreplay

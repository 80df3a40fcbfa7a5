#include "analysis/tune/outcome.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

TuneOutcome outcome(std::uint64_t ooms, Bytes reserved, std::uint64_t calls,
                    const Setting& setting = {}) {
  RunMetrics metrics;
  metrics.ooms = ooms;
  metrics.peak_reserved = reserved;
  metrics.device_allocs = calls;
  return {{setting}, {metrics}, {""}};
}

TEST(TuneOutcome, WhoServesMoreIsBetterWhateverItReserves) {
  EXPECT_TRUE(better(outcome(0, 900, 9), outcome(1, 100, 1), Objective::reserved));
}

TEST(TuneOutcome, TheObjectiveDecidesThen) {
  const TuneOutcome small = outcome(0, 100, 9);
  const TuneOutcome quick = outcome(0, 900, 1);
  EXPECT_TRUE(better(small, quick, Objective::reserved));
  EXPECT_TRUE(better(quick, small, Objective::calls));
}

TEST(TuneOutcome, AmongEqualsTheSimplerIsBetter) {
  EXPECT_TRUE(better(outcome(0, 1, 1), outcome(0, 1, 1, {.expandable_segments = true}),
                     Objective::reserved));
}

TEST(TuneOutcome, OfSeveralTracesCallsAddUpAndTheHighestPeakCounts) {
  TuneOutcome ranks = outcome(1, 100, 2);
  ranks.metrics.push_back(outcome(2, 300, 5).metrics.front());
  const RunSoFar total = ranks.total();
  EXPECT_EQ(total.ooms, 3u);
  EXPECT_EQ(total.peak_reserved, 300u);
  EXPECT_EQ(total.device_calls, 7u);
}

TEST(TuneOutcome, TheParetoFrontIsWhatNothingElseBeatsThroughout) {
  std::vector<TuneOutcome> outcomes = {outcome(0, 100, 9), outcome(0, 900, 1), outcome(0, 900, 2),
                                       outcome(0, 100, 9)};
  mark_pareto_front(outcomes);
  EXPECT_TRUE(outcomes[0].pareto);
  EXPECT_TRUE(outcomes[1].pareto);
  EXPECT_FALSE(outcomes[2].pareto);
  EXPECT_TRUE(outcomes[3].pareto);
}

}  // namespace
}  // namespace memreplay

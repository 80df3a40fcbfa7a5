#include <gtest/gtest.h>

#include "analysis/run/answer.hpp"
#include "report/runs.hpp"

namespace memreplay {
namespace {

TEST(Ranking, FewestOomsComeFirstThenTheLeastReserved) {
  std::vector<memreplay::Run> runs = {run_of("small but fails", {.reserved = 10, .ooms = 1}),
                                      run_of("large", {.reserved = 30}),
                                      run_of("middle", {.reserved = 20})};
  set_places(runs);
  EXPECT_EQ(runs[0].place, 3u);
  EXPECT_EQ(runs[1].place, 2u);
  EXPECT_EQ(runs[2].place, 1u);
}

TEST(Ranking, EqualRunsKeepTheOrderGiven) {
  std::vector<memreplay::Run> runs = {run_of("b", {.reserved = 1}), run_of("a", {.reserved = 1})};
  set_places(runs);
  sort_by_place(runs);
  EXPECT_EQ(runs[0].strategy, "b");
}

TEST(Ranking, TheWorstTraceHasTheMostOoms) {
  std::vector<TraceRuns> reports(3);
  reports[0].runs = {run_of("torch", {.reserved = 90})};
  reports[1].runs = {run_of("torch", {.reserved = 50, .ooms = 2})};
  reports[2].runs = {};
  EXPECT_EQ(worst_of(reports), 1u);
}

TEST(Ranking, WhatFitsByMovingBlocksAwayComesAfterWhatFits) {
  std::vector<memreplay::Run> runs = {run_of("moves", {.reserved = 10}),
                                      run_of("holds", {.reserved = 20})};
  runs[0].metrics.moved_out_blocks = 1;
  set_places(runs);
  EXPECT_EQ(runs[0].place, 2u);
}

TEST(Ranking, WhatWasInterruptedComesLastHoweverLittleItReserved) {
  std::vector<memreplay::Run> runs = {run_of("cut", {}), run_of("fails", {.ooms = 5}),
                                      run_of("whole", {.reserved = 30})};
  runs[0].finished = false;
  set_places(runs);
  EXPECT_EQ(runs[0].place, 3u);
  EXPECT_EQ(runs[1].place, 2u);
}

TEST(Ranking, OfRunsStoppedAtTheirOomTheOneThatCameFurthestIsFirst) {
  std::vector<memreplay::Run> runs = {run_of("early", {.reserved = 10, .ooms = 1}),
                                      run_of("late", {.reserved = 20, .ooms = 1})};
  for (memreplay::Run& run : runs) {
    run.finished = false;
    run.stopped_at_oom = true;
  }
  runs[0].metrics.first_oom = OomPlace{.event = 100};
  runs[1].metrics.first_oom = OomPlace{.event = 200};
  set_places(runs);
  EXPECT_EQ(runs[1].place, 1u);
}

TEST(Ranking, AnInterruptedRunIsNoWorst) {
  std::vector<TraceRuns> reports(2);
  reports[0].runs = {run_of("torch", {.reserved = 50})};
  reports[1].runs = {run_of("torch", {.reserved = 90})};
  reports[1].runs[0].finished = false;
  EXPECT_EQ(worst_of(reports), 0u);
}

}  // namespace
}  // namespace memreplay

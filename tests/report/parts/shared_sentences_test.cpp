#include "report/parts/shared_sentences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/runs.hpp"

namespace memreplay {
namespace {

using testing::ElementsAre;

Run serving(const std::string& strategy, std::uint64_t served) {
  auto run = run_of(strategy, {});
  run.metrics.recorded_ooms_served = served;
  return run;
}

Run refused(const std::string& strategy, std::uint64_t event, Bytes free) {
  auto run = run_of(strategy, {.ooms = 1});
  run.device.capacity = kGiB;
  run.metrics.first_oom = OomPlace{event, 100 * kMiB, free, 10 * kMiB, kGiB - free};
  const Cause cause = free < 100 * kMiB ? Cause::shortage : Cause::fragmentation;
  run.refusal = JudgedRefusal{.refusal = {}, .verdict = {cause, false}};
  run.tunable = true;
  return run;
}

TEST(SharedSentences, WhatHoldsOfSeveralIsSaidOnceWithItsNames) {
  EXPECT_THAT(
      served_sentences({serving("a", 1), serving("b", 1), serving("c", 0)}),
      ElementsAre("a and b serve 1 request that the recorded program was refused, and free it at "
                  "once: what the real program would have requested after that is unknown."));
}

TEST(SharedSentences, OfOneItIsSaidAsOfOne) {
  EXPECT_THAT(
      served_sentences({serving("a", 2)}),
      ElementsAre("a serves 2 requests that the recorded program was refused, and frees them at "
                  "once: what the real program would have requested after that is unknown."));
}

TEST(SharedSentences, OfNearlyAllTheOthersAreNamed) {
  std::vector<memreplay::Run> runs;
  for (const char* name : {"a", "b", "c", "d", "e"}) runs.push_back(serving(name, 1));
  EXPECT_TRUE(served_sentences(runs).at(0).starts_with("All of them serve 1 request"));
  runs[1].metrics.recorded_ooms_served = 0;
  EXPECT_TRUE(served_sentences(runs).at(0).starts_with("All but b serve 1 request"));
}

TEST(SharedSentences, AWarningForEachRemedyWithItsEarliestOom) {
  EXPECT_THAT(
      oom_warnings({refused("a", 30, 200 * kMiB), refused("b", 20, 300 * kMiB),
                    refused("c", 10, 50 * kMiB)}),
      ElementsAre("a and b ran out of memory, the earliest at event 20 (b: requested 100 MiB, 300 "
                  "MiB free, largest hole 10 MiB). Fragmentation: enough is free, but not in one "
                  "piece; tune says whether a setting helps.",
                  "c ran out of memory 1 time, first at event 10: requested 100 MiB, 50 MiB free, "
                  "largest hole 10 MiB. Shortage: a --capacity above 1024 MiB helps."));
}

TEST(SharedSentences, WhoRanOutForAnotherReasonIsNoException) {
  std::vector<memreplay::Run> runs;
  for (const char* name : {"a", "b", "c", "d"}) runs.push_back(refused(name, 30, 200 * kMiB));
  runs.push_back(refused("e", 10, 50 * kMiB));
  EXPECT_TRUE(oom_warnings(runs).at(0).starts_with("a, b, c and d ran out of memory, "));
  runs.back() = run_of("e", {});
  EXPECT_TRUE(oom_warnings(runs).at(0).starts_with("All but e ran out of memory, "));
}

TEST(SharedSentences, EstimatesForTheSameReasonAreNamedTogether) {
  auto a = run_of("a", {});
  a.exact = false;
  a.inexact_because = "the recording starts late";
  auto b = a;
  b.strategy = "b";
  EXPECT_THAT(inexact_sentences({a, b, run_of("c", {})}),
              ElementsAre("a and b are estimates: the recording starts late."));
}

TEST(SharedSentences, WhatWasInterruptedIsInNone) {
  auto cut = serving("a", 1);
  cut.finished = false;
  EXPECT_TRUE(served_sentences({cut}).empty());
}

}  // namespace
}  // namespace memreplay

#include "report/parts/sentences.hpp"

#include <gtest/gtest.h>

#include "support/runs.hpp"

namespace memreplay {
namespace {

std::vector<std::string> sentences(std::vector<Run> runs) {
  set_places(runs);
  return comparison_sentences(runs);
}

TEST(Comparison, NamesTheWinnerAndItsPriceLast) {
  const auto said = sentences({run_of("recorded", {.reserved = 20 * kGiB, .device_allocs = 9}),
                               run_of("direct", {.reserved = 12 * kGiB, .device_allocs = 50})});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said.back(),
            "direct reserves 8192 MiB less than recorded, at 41 more device allocations.");
}

TEST(Comparison, RecordedIsTheBaselineWhereverItStands) {
  const auto said =
      sentences({run_of("worst", {.reserved = 30 * kMiB}), run_of("best", {.reserved = 10 * kMiB}),
                 run_of("recorded", {.reserved = 20 * kMiB})});
  ASSERT_EQ(said.size(), 2u);
  EXPECT_EQ(said[0], "worst reserves 10 MiB more than recorded, with as many device allocations.");
  EXPECT_EQ(said[1], "best reserves 10 MiB less than recorded, with as many device allocations.");
}

TEST(Comparison, AWinningBaselineIsComparedWithTheSecond) {
  const auto said = sentences({run_of("recorded", {.reserved = 10 * kMiB, .device_allocs = 1}),
                               run_of("torch", {.reserved = 20 * kMiB, .device_allocs = 2})});
  EXPECT_EQ(said.back(),
            "recorded reserves 10 MiB less than torch, with 1 fewer device allocation.");
}

TEST(Comparison, TwoRunsAreComparedOnce) {
  EXPECT_EQ(
      sentences({run_of("torch", {.reserved = 10}), run_of("direct", {.reserved = 20})}).size(),
      1u);
}

TEST(Comparison, ServingEveryRequestCountsBeforeMemory) {
  const auto said = sentences(
      {run_of("recorded", {.reserved = 10, .ooms = 3}), run_of("bump", {.reserved = 90})});
  EXPECT_EQ(said.back(), "bump serves every request; recorded runs out of memory 3 times.");
}

TEST(Comparison, OneRunNeedsNoSentence) { EXPECT_TRUE(sentences({run_of("torch", {})}).empty()); }

Run refused_for(Cause cause) {
  auto run = run_of("torch", {.ooms = 1});
  run.metrics.first_oom = OomPlace{373, 760 * kMiB, 806 * kMiB, 690 * kMiB, 4420 * kMiB};
  run.device.capacity = 5226 * kMiB;
  run.refusal = JudgedRefusal{.refusal = {.allowance = 4536 * kMiB}, .verdict = {cause, false}};
  return run;
}

TEST(OomWarning, SaysTheVerdictOnTheFirstRefusal) {
  auto run = refused_for(Cause::fragmentation);
  run.tunable = true;
  EXPECT_EQ(oom_warning(run),
            "torch ran out of memory 1 time, first at event 373: requested 760 MiB, 806 MiB free, "
            "largest hole 690 MiB. Fragmentation: enough is free, but not in one piece; tune says "
            "whether a setting helps.");
  run.metrics.first_oom->largest_free = 800 * kMiB;
  EXPECT_NE(oom_warning(run).find("in one piece, but in another stream or pool; tune says"),
            std::string::npos);
  run.metrics.first_oom->device_free = 770 * kMiB;
  EXPECT_NE(oom_warning(run).find("the allocator asks it for more than the request; tune says"),
            std::string::npos);
  EXPECT_NE(oom_warning(refused_for(Cause::shortage)).find("Shortage: a --capacity above 5226 MiB"),
            std::string::npos);
}

TEST(OomWarning, OnlyWhatHasSettingsIsSentToTune) {
  EXPECT_EQ(oom_advice(refused_for(Cause::fragmentation)),
            "Fragmentation: enough is free, but not in one piece; explain with this -s says what "
            "pins it.");
}

TEST(OomWarning, ALimitOfTheStrategyIsACauseOfItsOwn) {
  auto run = refused_for(Cause::limit);
  run.refusal->refusal.device_free = 690 * kMiB;
  EXPECT_EQ(oom_advice(run),
            "Limit: the strategy's own limit or arena of 4536 MiB refused it; the device had 690 "
            "MiB free.");
}

TEST(OomWarning, AShortageInEffectNamesTheLaterRequest) {
  auto run = refused_for(Cause::shortage);
  run.refusal->too_much = RequestInRoom{400, 5000 * kMiB, 300 * kMiB, 5226 * kMiB};
  EXPECT_EQ(oom_advice(run),
            "Shortage in effect: it would have fitted, but at event 400, 5000 MiB are live and 300 "
            "MiB more are requested, but the device has 5226 MiB.");
}

TEST(Estimate, WhoseEndsLookTheSameHasNoInterval) {
  EXPECT_EQ(estimated_text(11 * kGiB, {11 * kGiB - 9 * kMiB, 11 * kGiB}), "≈ 11 GiB");
  EXPECT_EQ(estimated_text(11 * kGiB, {10 * kGiB, 11 * kGiB}), "≈ 11 GiB (10 GiB to 11 GiB)");
}

TEST(InexactSentence, IsForEstimatesOnly) {
  auto run = run_of("torch", {});
  EXPECT_EQ(inexact_sentence(run), "");
  run.exact = false;
  run.inexact_because = "the recording starts in the middle";
  EXPECT_EQ(inexact_sentence(run), "torch is an estimate: the recording starts in the middle.");
  run.interval = RunInterval{};
  EXPECT_NE(inexact_sentence(run).find("the closest replay"), std::string::npos);
}

TEST(ComparisonSentences, IntervalsThatOverlapDecideNothing) {
  std::vector<memreplay::Run> runs = {run_of("recorded", {.reserved = 500 * kMiB}),
                                      run_of("torch", {.reserved = 400 * kMiB})};
  runs[0].place = 2;
  runs[1].interval = RunInterval{{300 * kMiB, 500 * kMiB}, {}};
  EXPECT_EQ(comparison_sentences(runs).at(0),
            "Which of torch (300 MiB to 500 MiB) and recorded (500 MiB) reserves less is "
            "undecided.");
  runs[1].interval->peak_reserved.high = 499 * kMiB;
  EXPECT_NE(comparison_sentences(runs).at(0).find("reserves 100 MiB less"), std::string::npos);
}

Run moving_run() {
  auto run = run_of("offload(torch)", {.reserved = 10 * kMiB});
  run.metrics.moved_out_blocks = 3;
  run.metrics.moved_out = 2 * kMiB;
  run.metrics.stall_seconds = 1.5;
  return run;
}

TEST(TransferCost, IsSaidWhereverSuchARunIsPraised) {
  const std::string cost = "with 3 blocks (2 MiB) moved out of it and a modelled stall of 1.5 s";
  EXPECT_EQ(transfer_cost(moving_run()), cost);
  EXPECT_EQ(transfer_cost(run_of("torch", {})), "");
  EXPECT_EQ(sentences({run_of("torch", {.reserved = 20 * kMiB, .ooms = 1}), moving_run()}).back(),
            "offload(torch) serves every request, " + cost + "; torch runs out of memory 1 time.");
  EXPECT_NE(sentences({run_of("torch", {.reserved = 20 * kMiB}), moving_run()}).back().find(cost),
            std::string::npos);
}

TEST(Mark, NamesWhatAFigureCostsOrKnows) {
  EXPECT_EQ(mark(moving_run()), " (stalls 1.5 s)");
  auto run = run_of("plan", {});
  EXPECT_EQ(mark(run), "");
  run.metrics.clairvoyant = true;
  run.exact = false;
  EXPECT_EQ(mark(run), " (estimate) (clairvoyant)");
}

TEST(Comparison, APlanIsNamedAsWhatItIs) {
  auto plan = run_of("plan", {.reserved = 10 * kMiB});
  plan.metrics.clairvoyant = true;
  EXPECT_EQ(sentences({run_of("torch", {.reserved = 20 * kMiB}), plan}).back(),
            "plan (clairvoyant) reserves 10 MiB less than torch, with as many device allocations.");
}

TEST(Comparison, WhatWasInterruptedIsInNoSentence) {
  auto cut = run_of("cut", {});
  cut.finished = false;
  const auto said = sentences(
      {run_of("recorded", {.reserved = 20 * kMiB}), cut, run_of("torch", {.reserved = 30 * kMiB})});
  ASSERT_EQ(said.size(), 1u);
  EXPECT_EQ(said[0], "recorded reserves 10 MiB less than torch, with as many device allocations.");
  EXPECT_TRUE(sentences({run_of("recorded", {.reserved = 20 * kMiB}), cut}).empty());
}

TEST(Comparison, RunsStoppedAtTheirOomAreComparedByHowFarTheyCame) {
  std::vector<memreplay::Run> runs = {run_of("a", {.reserved = 10, .ooms = 1}),
                                      run_of("b", {.reserved = 20, .ooms = 1})};
  for (memreplay::Run& run : runs) {
    run.finished = false;
    run.stopped_at_oom = true;
  }
  runs[0].metrics.first_oom = OomPlace{.event = 100};
  runs[1].metrics.first_oom = OomPlace{.event = 2000};
  EXPECT_EQ(sentences(runs).back(), "b runs out of memory at event 2,000, a at event 100.");
  runs[1].metrics.first_oom = OomPlace{.event = 100};
  EXPECT_EQ(sentences(runs).back(), "a and b run out of memory at event 100.");
  EXPECT_EQ(sentences({runs[0], run_of("c", {.reserved = 30})}).back(),
            "c serves every request; a runs out of memory at event 100.");
}

TEST(Interval, HasNoRangeWhereItsEndsLookTheSame) {
  EXPECT_EQ(estimated_text(490 * kMiB, {490 * kMiB, 490 * kMiB}), "≈ 490 MiB");
  EXPECT_EQ(estimated_text(490 * kMiB, {480 * kMiB, 490 * kMiB}), "≈ 490 MiB (480 MiB to 490 MiB)");
  EXPECT_EQ(range_text({490 * kMiB, 490 * kMiB + 1}), "490 MiB");
}

}  // namespace
}  // namespace memreplay

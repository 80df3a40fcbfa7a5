#include "program/verdict.hpp"

#include <gtest/gtest.h>

#include "../recordings.hpp"
#include "analysis/explain/answer.hpp"
#include "analysis/explain/explained.hpp"
#include "analysis/inputs/inputs.hpp"
#include "analysis/tune/answer.hpp"
#include "core/control.hpp"
#include "core/units.hpp"
#include "program/too_much.hpp"
#include "trace/reader.hpp"
#include "verify/subject.hpp"

namespace memreplay {
namespace {

Cause by_sizes(Bytes live, Bytes requested, Bytes allowance, std::optional<Bytes> total = {}) {
  const Refusal refusal{
      .live = live, .requested = requested, .room = 100, .allowance = allowance, .total = total};
  return refusal.cause_by_sizes();
}

TEST(OomVerdict, BySizesItIsWhatDoesNotFit) {
  EXPECT_EQ(by_sizes(60, 41, 100), Cause::shortage);
  EXPECT_EQ(by_sizes(60, 41, 100, 120), Cause::outside);
  EXPECT_EQ(by_sizes(60, 61, 100, 120), Cause::shortage);
  EXPECT_EQ(by_sizes(60, 40, 90), Cause::outside);
  EXPECT_EQ(by_sizes(60, 40, 100), Cause::fragmentation);
}

TEST(OomVerdict, FragmentationIsOnlyWhatASettingServesWithAllThatFollows) {
  const OomVerdict in_effect{Cause::shortage, true};
  EXPECT_EQ(verdict_on(Cause::fragmentation, {}), (OomVerdict{Cause::fragmentation, false}));
  EXPECT_EQ(verdict_on(Cause::fragmentation, {.too_much = true}), in_effect);
  EXPECT_EQ(verdict_on(Cause::fragmentation, {.none_serves = true}), in_effect);
  EXPECT_EQ(verdict_on(Cause::fragmentation, {.undecided = true}),
            (OomVerdict{Cause::unknown, false}));
}

TEST(OomVerdict, WhatIsNoFragmentationBySizesStays) {
  for (const Cause cause :
       {Cause::none, Cause::shortage, Cause::outside, Cause::address_space, Cause::unknown}) {
    EXPECT_EQ(verdict_on(cause, {.too_much = true, .none_serves = true, .undecided = true}),
              (OomVerdict{cause, false}));
  }
}

TEST(TooMuch, IsTheFirstRequestThatDoesNotFitBesideWhatWasLive) {
  const Recording recording =
      RecordingWriter().alloc(0, 60).alloc(1, 30).free(0).alloc(2, 50).alloc(3, 70).recording();
  const auto found = too_much_in(recording.traces[0], 100);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->event, 4u);
  EXPECT_EQ(found->live, 80u);
  EXPECT_EQ(found->requested, 70u);
  EXPECT_FALSE(too_much_in(recording.traces[0], 150));
  EXPECT_FALSE(too_much_in(recording.traces[0], std::nullopt));
}

TEST(StateBeyond, IsWhatWasThereBeforeOfMoreThanTheDeviceHas) {
  Trace trace;
  trace.coverage.preexisting_bytes = 100;
  trace.coverage.preexisting_blocks = 3;
  const auto state = state_beyond(trace, 90);
  ASSERT_TRUE(state);
  EXPECT_EQ(state->needed, 100u);
  EXPECT_EQ(state->room, 90u);
  EXPECT_EQ(state->blocks, 3u);
  EXPECT_FALSE(state_beyond(trace, 100));
  EXPECT_FALSE(state_beyond(trace, std::nullopt));
  EXPECT_FALSE(state_beyond(trace, 90, StartMode::cold));
}

struct BothVerdicts {
  OomVerdict explained;
  OomVerdict tuned;
};

BothVerdicts verdicts(const Inputs& inputs, const Setup& setup,
                      std::optional<std::uint64_t> runs = {}) {
  const ExplainAnswer explained = answer(inputs, ExplainQuestion{.setup = setup, .runs = runs}, {});
  const TuneAnswer tuned = answer(inputs, TuneQuestion{.setup = setup, .runs = runs}, {});
  const Explanation& e = explained.devices[0].explanation;
  return {{e.cause, e.in_effect}, tuned.verdict};
}

Inputs of_bundled(const std::string& name) {
  return Inputs({.paths = {std::string(MEMREPLAY_TRACES) + "/" + name}});
}

TEST(BothVerdicts, ExplainSearchesAsTuneDoesWhereThatDecides) {
  const Inputs inputs = of_bundled("torch/layers_4.pickle");
  const BothVerdicts narrow = verdicts(inputs, {.device = {.capacity = 402'480'969}});
  EXPECT_EQ(narrow.explained, (OomVerdict{Cause::shortage, true}));
  EXPECT_EQ(narrow.tuned, narrow.explained);
  const BothVerdicts wider = verdicts(inputs, {.device = {.capacity = 410'530'588}});
  EXPECT_EQ(wider.explained, (OomVerdict{Cause::fragmentation, false}));
  EXPECT_EQ(wider.tuned, wider.explained);
}

TEST(BothVerdicts, WhereAFailureLeavesNoEntryBothSaySo) {
  Recording recording = read_recording(std::string(MEMREPLAY_TRACES) + "/torch/layers_4.pickle");
  recording.settings.conf = "throw_on_cudamalloc_oom:True";
  const Subject subject(recording, recording.traces[0]);
  const auto refusal = first_refusal(subject, std::nullopt, {}, {});
  ASSERT_TRUE(refusal);
  EXPECT_EQ(refusal->cause, Cause::unknown);
}

TEST(BothVerdicts, AMemoryLimitIsOutsideForBoth) {
  const BothVerdicts both = verdicts(of_bundled("torch/little_to_collect.pickle"),
                                     {.device = {.capacity = 423 * kMiB}}, 40);
  EXPECT_EQ(both.explained, (OomVerdict{Cause::outside, false}));
  EXPECT_EQ(both.tuned, both.explained);
}

}  // namespace
}  // namespace memreplay

#include "program/verdict.hpp"

#include <gtest/gtest.h>

#include "core/control.hpp"
#include "core/units.hpp"
#include "program/judge.hpp"
#include "program/too_much.hpp"
#include "questions/explain/answer.hpp"
#include "questions/explain/explained.hpp"
#include "questions/tune/answer.hpp"
#include "run/inputs.hpp"
#include "support/recordings.hpp"
#include "trace/reader.hpp"
#include "verify/subject.hpp"

namespace memreplay {
namespace {

Cause by_sizes(Bytes live, Bytes requested, Bytes allowance, std::optional<Bytes> total = {},
               Bytes allocated = 0) {
  const Refusal refusal{.live = live,
                        .allocated = allocated,
                        .requested = requested,
                        .room = 100,
                        .allowance = allowance,
                        .total = total};
  return refusal.cause_by_sizes();
}

TEST(OomVerdict, BySizesItIsWhatDoesNotFit) {
  EXPECT_EQ(by_sizes(60, 41, 100), Cause::shortage);
  EXPECT_EQ(by_sizes(60, 41, 100, 120), Cause::outside);
  EXPECT_EQ(by_sizes(60, 61, 100, 120), Cause::shortage);
  EXPECT_EQ(by_sizes(60, 40, 90), Cause::limit);
  EXPECT_EQ(by_sizes(60, 40, 100), Cause::fragmentation);
}

TEST(OomVerdict, AnArenaIsFullByWhatBlocksTakeOfIt) {
  EXPECT_EQ(by_sizes(50, 10, 64, {}, 64), Cause::limit);
  EXPECT_EQ(by_sizes(50, 10, 64, {}, 54), Cause::fragmentation) << "inside the arena";
  EXPECT_EQ(by_sizes(50, 10, 100, {}, 100), Cause::fragmentation) << "nothing limits it";
}

TEST(OomVerdict, AShortageInEffectIsOnlyWhatALaterRequestMakesOne) {
  EXPECT_EQ(verdict_on(Cause::fragmentation, false), (OomVerdict{Cause::fragmentation, false}));
  EXPECT_EQ(verdict_on(Cause::fragmentation, true), (OomVerdict{Cause::shortage, true}));
}

TEST(OomVerdict, WhatIsNoFragmentationBySizesStays) {
  for (const Cause cause : {Cause::none, Cause::shortage, Cause::limit, Cause::outside,
                            Cause::address_space, Cause::unknown}) {
    EXPECT_EQ(verdict_on(cause, true), (OomVerdict{cause, false}));
  }
}

OomPlace refused_beside(Bytes held, Bytes free, Bytes obtainable = UINT64_MAX) {
  return {.event = 9,
          .requested = 4 * kMiB,
          .live = held - 10 * kMiB,
          .allocated = held,
          .held = held,
          .device_free = free,
          .obtainable = obtainable};
}

TEST(RefusalOf, WhereTheDeviceHadEnoughTheStrategyRefused) {
  const Refusal arena = refusal_of(refused_beside(256 * kMiB, 194 * kMiB), 4 * kMiB, 450 * kMiB);
  EXPECT_EQ(arena.cause, Cause::limit);
  EXPECT_EQ(arena.allowance, 256 * kMiB);
  EXPECT_EQ(arena.room, 450 * kMiB);
  const Refusal full = refusal_of(refused_beside(256 * kMiB, 2 * kMiB), 4 * kMiB, 258 * kMiB);
  EXPECT_EQ(full.cause, Cause::fragmentation);
}

TEST(RefusalOf, AKnownLimitIsTheAllowance) {
  const Refusal limited =
      refusal_of(refused_beside(256 * kMiB, kGiB, 2 * kMiB), 4 * kMiB, std::nullopt);
  EXPECT_EQ(limited.cause, Cause::limit);
  EXPECT_EQ(limited.allowance, 258 * kMiB);
}

TEST(DeviceBytesFor, PyTorchTakesSegmentsOrGranules) {
  TorchModel model;
  EXPECT_EQ(device_bytes_for(3 * kMiB, model, 2 * kMiB), 20 * kMiB);
  EXPECT_EQ(device_bytes_for(kMiB, model, 2 * kMiB), 2 * kMiB);
  model.settings.expandable_segments = true;
  EXPECT_EQ(device_bytes_for(21 * kMiB, model, 2 * kMiB), 40 * kMiB);
  EXPECT_EQ(device_bytes_for(3 * kMiB, std::nullopt, 2 * kMiB), 4 * kMiB);
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

TEST(BothVerdicts, NoneThatServesIsNoShortage) {
  const Inputs inputs = of_bundled("torch/layers_4.pickle");
  const BothVerdicts narrow = verdicts(inputs, {.capacity = 402'480'969});
  EXPECT_EQ(narrow.explained, (OomVerdict{Cause::fragmentation, false}));
  EXPECT_EQ(narrow.tuned, narrow.explained);
  const BothVerdicts wider = verdicts(inputs, {.capacity = 410'530'588});
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

TEST(BothVerdicts, AMemoryLimitIsOneForBoth) {
  const BothVerdicts both =
      verdicts(of_bundled("torch/little_to_collect.pickle"), {.capacity = 423 * kMiB}, 40);
  EXPECT_EQ(both.explained, (OomVerdict{Cause::limit, false}));
  EXPECT_EQ(both.tuned, both.explained);
}

}  // namespace
}  // namespace memreplay

#include "program/growth.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "program/steps.hpp"
#include "questions/explain/explained.hpp"
#include "support/recordings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

Explanation by_phase(const Recording& recording) {
  const Subject subject(recording, recording.traces[0]);
  const ReplayedMoments moments(Contender(subject, parse_strategy("torch")), {});
  return explain(subject, moments, {.by_phase = true});
}

// 30 MiB of weights; in each of two scopes 20 MiB, and 50 MiB for a moment.
RecordingWriter two_scopes(const char* first, const char* second) {
  RecordingWriter writer;
  const std::uint32_t weights = writer.stack({"model.py:9 __init__"});
  const std::uint32_t saved = writer.stack({"model.py:27 forward"});
  const std::uint32_t moment = writer.stack({"model.py:41 backward"});
  writer.alloc(0, 30 * kMiB, weights);
  writer.annotate(first, true).alloc(1, 20 * kMiB, saved).annotate(first, false);
  writer.annotate(second, true).alloc(2, 50 * kMiB, moment).free(2).free(1);
  return writer.annotate(second, false);
}

TEST(Phases, HaveWhoHoldsMostAtTheirPeakAndWhatIsWastedThere) {
  const Explanation e = by_phase(two_scopes("forward", "backward").recording());
  ASSERT_EQ(e.phases.size(), 2u);
  EXPECT_EQ(e.phases[0].name, "forward");
  EXPECT_EQ(e.phases[0].peak_requested, 50 * kMiB);
  ASSERT_TRUE(e.phases[0].use);
  EXPECT_EQ(e.phases[0].use->most.place, "model.py:9 __init__");
  EXPECT_EQ(e.phases[0].use->most.bytes, 30 * kMiB);
  EXPECT_EQ(e.phases[0].use->waste(), 0u);
  EXPECT_EQ(e.phases[1].peak_event, 2u);
  EXPECT_EQ(e.phases[1].use->most.place, "model.py:41 backward");
  EXPECT_EQ(e.phases[1].use->most.blocks, 1u);
}

TEST(Phases, OfOneNameAreOne) {
  const Explanation e = by_phase(two_scopes("micro", "micro").recording());
  ASSERT_EQ(e.phases.size(), 1u);
  EXPECT_EQ(e.phases[0].times, 2u);
  EXPECT_EQ(e.phases[0].peak_requested, 100 * kMiB);
}

TEST(Phases, WasteIsWhatIsReservedAndNotAllocated) {
  RecordingWriter writer;
  writer.alloc(0, 60 * kMiB).free(0);
  writer.annotate("step", true).alloc(1, 30 * kMiB).annotate("step", false);
  const Explanation e = by_phase(writer.recording());
  ASSERT_EQ(e.phases.size(), 1u);
  EXPECT_EQ(e.phases[0].use->reserved, 60 * kMiB);
  EXPECT_EQ(e.phases[0].use->waste(), 30 * kMiB);
}

TEST(Phases, WithoutAnnotationsTheStepsAre) {
  RecordingWriter writer;
  writer.alloc(9, 999);
  for (int step = 0; step < 3; ++step) {
    for (Slot slot = 0; slot < 4; ++slot) writer.alloc(slot, 100 + slot);
    for (Slot slot = 0; slot < 4; ++slot) writer.free(slot);
  }
  const Recording recording = writer.recording();
  const auto phases = phases_or_steps(recording, recording.traces[0]);
  ASSERT_EQ(phases.size(), 4u);
  EXPECT_EQ(phases[0], (Phase{"before step 1", 0, 1, 0}));
  EXPECT_EQ(phases[1], (Phase{"step 1", 1, 9, 0}));
  EXPECT_EQ(phases[3], (Phase{"step 3", 17, 25, 0}));
  const Recording none = RecordingWriter().alloc(0, 1).recording();
  EXPECT_TRUE(phases_or_steps(none, none.traces[0]).empty());
}

TEST(Phases, AreNotLookedIntoUnlessAskedFor) {
  const Recording recording = two_scopes("forward", "backward").recording();
  const Subject subject(recording, recording.traces[0]);
  const Explanation e =
      explain(subject, ReplayedMoments(Contender(subject, parse_strategy("torch")), {}), {});
  ASSERT_EQ(e.phases.size(), 2u);
  EXPECT_FALSE(e.phases[0].use);
}

// What stands at a peak is what is seen when that event alone is looked at.
TEST(Phases, AgreeWithALookAtTheirEvent) {
  const Recording recording =
      read_recording(std::string(MEMREPLAY_TRACES) + "/torch/layers_5.pickle");
  const Subject subject(recording, recording.traces[0]);
  const RecordedMoments recorded(subject);
  const ReplayedMoments replayed(Contender(subject, parse_strategy("recorded")), {});
  const std::vector<const MomentSource*> sources = {&recorded, &replayed};
  for (const MomentSource* source : sources) {
    const Explanation all = explain(subject, *source, {.by_phase = true});
    ASSERT_FALSE(all.phases.empty());
    for (const PhasePeak& phase : all.phases) {
      const Explanation one =
          explain(subject, *source, {.at = {At::Kind::event, phase.peak_event}});
      ASSERT_TRUE(phase.use);
      EXPECT_EQ(phase.use->reserved, one.reserved);
      EXPECT_EQ(phase.use->allocated, one.live_allocated);
      EXPECT_EQ(phase.use->most.place, one.live.front().place);
      EXPECT_EQ(phase.use->most.bytes, one.live.front().bytes);
      EXPECT_EQ(phase.use->most.blocks, one.live.front().blocks);
    }
  }
}

using Verdict = StepGrowth::Verdict;

/// Steps that end with a marker, in slots of their own.
class StepWriter {
 public:
  StepWriter() : train_(stack("train.py:31 run")), optimizer_(stack("optim.py:9 step")) {}

  std::uint32_t stack(const char* frame) { return writer_.stack({frame}); }
  Slot alloc(Bytes size, std::uint32_t stack) {
    writer_.alloc(next_, size, stack);
    return next_++;
  }
  void free(Slot slot) { writer_.free(slot); }
  /// What every step asks for and frees, around what is its own.
  void step(const std::function<void()>& own = [] {}) {
    const Slot activation = alloc(100 * kMiB, train_);
    own();
    free(activation);
    writer_.add(Op::marker, kNoSlot, 0);
  }
  StepGrowth growth(PlaceBy by = PlaceBy::place, const std::optional<Bytes>& room = {}) {
    if (!recording_) recording_ = writer_.recording();
    return step_growth(*recording_, recording_->traces[0], by, room);
  }

  std::optional<Growth> fact() {
    if (!recording_) recording_ = writer_.recording();
    return growth_of(*recording_, recording_->traces[0]);
  }

  std::uint32_t train() const { return train_; }
  std::uint32_t optimizer() const { return optimizer_; }

 private:
  RecordingWriter writer_;
  std::optional<Recording> recording_;  ///< as soon as it is asked for, and for good
  std::uint32_t train_;
  std::uint32_t optimizer_;
  Slot next_ = 0;
};

TEST(StepGrowth, APlaceThatKeepsABlockOfEveryStepGrows) {
  StepWriter w;
  const std::uint32_t losses = w.stack("train.py:40 run");
  w.alloc(64 * kMiB, w.train());
  for (int i = 0; i < 6; ++i) w.step([&] { w.alloc(8 * kMiB, losses); });
  const StepGrowth growth = w.growth();
  EXPECT_EQ(growth.verdict, Verdict::grows);
  EXPECT_EQ(growth.source, Steps::Source::markers);
  EXPECT_EQ(growth.steps, 6u);
  EXPECT_EQ(growth.per_step, 8 * static_cast<std::int64_t>(kMiB));
  EXPECT_EQ(growth.live[1], 72 * kMiB);
  EXPECT_EQ(growth.live.back(), 112 * kMiB);
  ASSERT_EQ(growth.places.size(), 1u);
  EXPECT_EQ(growth.places[0].place, "train.py:40 run");
  EXPECT_EQ(growth.places[0].per_step, 8 * kMiB);
  EXPECT_EQ(growth.places[0].since_step, 1u);
  EXPECT_EQ(growth.places[0].first_event, 2u);
}

TEST(StepGrowth, ItSaysWithWhichStepItBegan) {
  StepWriter w;
  const std::uint32_t losses = w.stack("train.py:40 run");
  for (int i = 1; i <= 12; ++i) {
    w.step([&] {
      if (i >= 5) w.alloc(kMiB, losses);
    });
  }
  const StepGrowth growth = w.growth();
  ASSERT_EQ(growth.places.size(), 1u);
  EXPECT_EQ(growth.since_step, 5u);
  EXPECT_EQ(growth.places[0].since_step, 5u);
  EXPECT_EQ(growth.places[0].first_event, 4u * 3 + 1);
}

TEST(StepGrowth, WhatTheFirstStepMakesAndKeepsIsNoGrowth) {
  StepWriter w;
  for (int i = 0; i < 6; ++i) {
    w.step([&] {
      if (i == 0) w.alloc(400 * kMiB, w.optimizer());
    });
  }
  const StepGrowth growth = w.growth();
  EXPECT_EQ(growth.verdict, Verdict::steady);
  EXPECT_EQ(growth.per_step, 0);
  EXPECT_TRUE(growth.places.empty());
}

TEST(StepGrowth, ACacheThatIsFullAfterSomeStepsIsNoGrowth) {
  StepWriter w;
  for (int i = 0; i < 20; ++i) {
    w.step([&] {
      if (i < 6) w.alloc(kMiB, w.optimizer());
    });
  }
  EXPECT_EQ(w.growth().verdict, Verdict::steady);
}

TEST(StepGrowth, WhatShrinksAgainIsNoGrowth) {
  StepWriter w;
  std::vector<Slot> kept;
  for (int i = 0; i < 19; ++i) {
    w.step([&] {
      if (i % 5 == 4) {  // the collector finds them
        for (const Slot slot : kept) w.free(slot);
        kept.clear();
      }
      kept.push_back(w.alloc(kMiB, w.optimizer()));
    });
  }
  EXPECT_EQ(w.growth().verdict, Verdict::steady);
}

TEST(StepGrowth, ACacheThatIsFullShortlyBeforeTheEndIsNoGrowth) {
  StepWriter w;
  for (int i = 0; i < 10; ++i) {
    w.step([&] {
      if (i < 8) w.alloc(kMiB, w.optimizer());
    });
  }
  EXPECT_EQ(w.growth().verdict, Verdict::steady);
}

// The result of a step lives until the next one has its own.
TEST(StepGrowth, ResultsOfLongerAndLongerInputsAreNoGrowth) {
  StepWriter w;
  const std::uint32_t loss = w.stack("train.py:12 run");
  std::optional<Slot> result;
  for (Bytes i = 1; i < 12; ++i) {
    w.step([&] {
      const Slot saved = w.alloc(40 * i * kMiB, w.train());
      const Slot next = w.alloc(i * kMiB, loss);
      w.free(saved);
      if (result) w.free(*result);
      result = next;
    });
  }
  EXPECT_EQ(w.growth().verdict, Verdict::steady);
  EXPECT_FALSE(w.fact());
}

TEST(StepGrowth, WhatAProgramKeepsMoreOfIsAFactOfIt) {
  StepWriter w;
  const std::uint32_t losses = w.stack("train.py:40 run");
  const std::uint32_t others = w.stack("train.py:41 run");
  for (int i = 0; i < 6; ++i) {
    w.step([&] {
      w.alloc(8 * kMiB, losses);
      w.alloc(2 * kMiB, others);
    });
  }
  const auto growth = w.fact();
  ASSERT_TRUE(growth);
  EXPECT_EQ(growth->place, "train.py:40 run");
  EXPECT_EQ(growth->place_per_step, 8 * kMiB);
  EXPECT_EQ(growth->per_step, 10 * kMiB);
  EXPECT_EQ(growth->grown, 60 * kMiB);
  EXPECT_EQ(growth->places, 2u);
  EXPECT_EQ(growth->since_step, 1u);
  EXPECT_EQ(growth->steps, 6u);
  EXPECT_EQ(growth->last_peak, 160 * kMiB);
  EXPECT_EQ(growth->steps_until_full(185 * kMiB), 2u);
  EXPECT_EQ(growth->steps_until_full(100 * kMiB), 0u);
}

TEST(StepGrowth, TheLastOfARingOfBlocksIsNoGrowth) {
  StepWriter w;
  std::vector<Slot> ring;
  for (std::size_t i = 0; i < 12; ++i) {
    w.step([&] {
      if (i >= 3) w.free(ring[i - 3]);
      ring.push_back(w.alloc(kMiB, w.optimizer()));
    });
  }
  EXPECT_EQ(w.growth().verdict, Verdict::steady);
}

TEST(StepGrowth, ABlockThatIsReplacedByALargerOneGrows) {
  StepWriter w;
  Slot cache = w.alloc(kMiB, w.optimizer());
  for (int i = 0; i < 6; ++i) {
    w.step([&] {
      const Slot larger = w.alloc(static_cast<Bytes>(i + 2) * kMiB, w.optimizer());
      w.free(cache);
      cache = larger;
    });
  }
  const StepGrowth growth = w.growth();
  ASSERT_EQ(growth.places.size(), 1u);
  EXPECT_EQ(growth.places[0].per_step, kMiB);
  EXPECT_EQ(growth.places[0].since_step, 1u);
}

TEST(StepGrowth, WhatGrowsInEveryOtherStepGrows) {
  StepWriter w;
  for (int i = 0; i < 16; ++i) {
    w.step([&] {
      if (i % 2 == 0) w.alloc(2 * kMiB, w.optimizer());
    });
  }
  const StepGrowth growth = w.growth();
  ASSERT_EQ(growth.places.size(), 1u);
  EXPECT_NEAR(static_cast<double>(growth.places[0].per_step), kMiB, kMiB / 8.0);
}

TEST(StepGrowth, StatesOfTheFirstStepDoNotHideALeakOfTheirPlace) {
  StepWriter w;
  for (int i = 0; i < 8; ++i) {
    w.step([&] { w.alloc(i == 0 ? 400 * kMiB : kMiB, w.optimizer()); });
  }
  const StepGrowth growth = w.growth();
  ASSERT_EQ(growth.places.size(), 1u);
  EXPECT_EQ(growth.places[0].per_step, kMiB);
  EXPECT_EQ(growth.places[0].since_step, 2u);
}

TEST(StepGrowth, PlacesThatTakeTurnsForAFewStepsAreNoGrowthThatIsSure) {
  StepWriter w;
  for (const char* const place : {"a.py:1 f", "a.py:2 f", "a.py:3 f", "a.py:4 f"}) {
    const std::uint32_t stack = w.stack(place);
    w.step([&] { w.alloc(kMiB, stack); });
  }
  EXPECT_EQ(w.growth().verdict, Verdict::unknown);
  EXPECT_EQ(w.growth(PlaceBy::file).verdict, Verdict::grows);
}

TEST(StepGrowth, AtThisRateTheDeviceWillBeFull) {
  StepWriter w;
  for (int i = 0; i < 6; ++i) w.step([&] { w.alloc(8 * kMiB, w.optimizer()); });
  // The last step needs 148 MiB.
  const StepGrowth growth = w.growth(PlaceBy::place, 200 * kMiB);
  EXPECT_EQ(growth.last_peak, 148 * kMiB);
  EXPECT_EQ(growth.steps_until_full, 6u);
  EXPECT_EQ(w.growth().steps_until_full, std::nullopt);
}

TEST(StepGrowth, WithoutAStackTheSizeOfTheRequestStandsForThePlace) {
  RecordingWriter writer;
  for (Slot i = 0; i < 5; ++i) {
    writer.alloc(i, 3 * kMiB).add(Op::marker, kNoSlot, 0);
  }
  const Recording recording = writer.recording();
  const StepGrowth growth = step_growth(recording, recording.traces[0], PlaceBy::place, {});
  ASSERT_EQ(growth.places.size(), 1u);
  EXPECT_EQ(growth.places[0].place, "requests of [2 MiB, 4 MiB)");
}

TEST(StepGrowth, TwoStepsAreTooFewAndNoneIsUnknown) {
  StepWriter w;
  for (int i = 0; i < 2; ++i) w.step([&] { w.alloc(kMiB, w.optimizer()); });
  EXPECT_EQ(w.growth().verdict, Verdict::unknown);
  EXPECT_EQ(w.growth().steps, 2u);
  const Recording recording = RecordingWriter().alloc(0, kMiB).recording();
  const StepGrowth none = step_growth(recording, recording.traces[0], PlaceBy::place, {});
  EXPECT_EQ(none.verdict, Verdict::unknown);
  EXPECT_EQ(none.source, Steps::Source::none);
}

// Layers of one forward pass keep their activations: the end of a recording that died in it.
TEST(StepGrowth, WhatRepeatsOnlyAtTheEndOfARecordingIsNoStep) {
  RecordingWriter writer;
  Slot next = 0;
  for (int i = 0; i < 30; ++i) writer.alloc(next++, static_cast<Bytes>(1000 + i * i));
  for (int layer = 0; layer < 5; ++layer) {
    for (Bytes kind = 0; kind < 4; ++kind) writer.alloc(next++, 100 + kind);
  }
  const Recording recording = writer.recording();
  EXPECT_EQ(step_growth(recording, recording.traces[0], PlaceBy::place, {}).source,
            Steps::Source::none);
}

TEST(StepGrowth, TheMedianSlopeIgnoresAStepThatIsOutOfLine) {
  EXPECT_EQ(slope_from({0, 10, 20, 900, 40, 50, 60}, 0), 10);
  EXPECT_EQ(slope_from({5, 5, 5}, 0), 0);
  EXPECT_EQ(slope_from({70, 60, 50}, 0), -10);
  EXPECT_EQ(slope_from({7}, 0), 0);
}

TEST(StepGrowth, GrowthMustGoOnToTheEnd) {
  EXPECT_EQ(grows_since({0, 1, 2, 3, 4, 5, 6}), 1u);
  EXPECT_EQ(grows_since({0, 1, 2, 3, 3, 3, 3, 3, 3}), std::nullopt);
  EXPECT_EQ(grows_since({9, 9, 9, 9, 1, 2, 3, 4, 5}), std::nullopt);  // as much was there before
  EXPECT_EQ(grows_since({0, 0, 0, 0, 1}), std::nullopt);
  EXPECT_EQ(grows_since({}), std::nullopt);
}

}  // namespace

}  // namespace memreplay

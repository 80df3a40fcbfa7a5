#include <gtest/gtest.h>

#include "../recordings.hpp"
#include "analysis/explain/explained.hpp"
#include "analysis/explain/step_growth.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

Explanation by_phase(const Recording& recording) {
  const Subject subject(recording, recording.traces[0]);
  const ReplayedMoments moments(subject, parse_strategy("torch"), {}, {});
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
      explain(subject, ReplayedMoments(subject, parse_strategy("torch"), {}, {}), {});
  ASSERT_EQ(e.phases.size(), 2u);
  EXPECT_FALSE(e.phases[0].use);
}

// What stands at a peak is what is seen when that event alone is looked at.
TEST(Phases, AgreeWithALookAtTheirEvent) {
  const Recording recording =
      read_recording(std::string(MEMREPLAY_TRACES) + "/torch/layers_5.pickle");
  const Subject subject(recording, recording.traces[0]);
  const RecordedMoments recorded(subject);
  const ReplayedMoments replayed(subject, parse_strategy("recorded"), {}, {});
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

}  // namespace
}  // namespace memreplay

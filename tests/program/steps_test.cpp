#include "program/steps.hpp"

#include <gtest/gtest.h>

#include "analysis/recordings.hpp"

namespace memreplay {
namespace {

TEST(Steps, AMarkerEndsAStep) {
  const Recording recording = RecordingWriter()
                                  .alloc(0, 1)
                                  .add(Op::marker, kNoSlot, 0)
                                  .alloc(1, 1)
                                  .add(Op::marker, kNoSlot, 0)
                                  .recording();
  const Steps steps = steps_of(recording, recording.traces[0]);
  EXPECT_EQ(steps.source, Steps::Source::markers);
  EXPECT_EQ(steps.begins, (std::vector<std::uint64_t>{0, 2}));
  EXPECT_EQ(steps.of(1), 1u);
  EXPECT_EQ(steps.of(2), 2u);
}

TEST(Steps, ASnapshotThatAnOomCausedEndsNone) {
  RecordingWriter writer;
  for (Slot i = 0; i < 3; ++i) writer.annotate("step", true).alloc(i, 1).annotate("step", false);
  writer.add(Op::oom, kNoSlot, 9).add(Op::segment_free, kNoSlot, 9).add(Op::marker, kNoSlot, 0);
  Recording recording = writer.alloc(3, 1).recording();
  recording.format = "torch-pickle";
  const Steps steps = steps_of(recording, recording.traces[0]);
  EXPECT_EQ(steps.source, Steps::Source::annotations);
  EXPECT_EQ(steps.begins, (std::vector<std::uint64_t>{0, 1, 2}));
}

TEST(Steps, MarkersOfSleepAndSettingsEndNone) {
  for (const std::string text : {"sleep", "wake", "PYTORCH_CUDA_ALLOC_CONF="}) {
    Recording recording = RecordingWriter().alloc(0, 1).add(Op::marker, kNoSlot, 0).recording();
    recording.texts = {"", text};
    recording.traces[0].tags = {0, 1};
    EXPECT_TRUE(steps_of(recording, recording.traces[0]).begins.empty()) << text;
  }
}

TEST(Steps, TheOutermostScopeThatRecursBeginsThem) {
  RecordingWriter writer;
  writer.alloc(0, 1);
  for (Slot i = 1; i < 4; ++i) {
    writer.annotate("forward", true).alloc(i, 1).annotate("inner", true).free(i);
    writer.annotate("inner", false).annotate("forward", false);
  }
  const Recording recording = writer.recording();
  const Steps steps = steps_of(recording, recording.traces[0]);
  EXPECT_EQ(steps.source, Steps::Source::annotations);
  EXPECT_EQ(steps.begins, (std::vector<std::uint64_t>{1, 3, 5}));
  EXPECT_EQ(steps.of(0), 0u);
  const auto phases = annotated_phases(recording, recording.traces[0]);
  ASSERT_EQ(phases.size(), 6u);
  EXPECT_EQ(phases[0], (Phase{"forward", 1, 3, 0}));
  EXPECT_EQ(phases[1], (Phase{"inner", 2, 3, 1}));
}

TEST(Steps, RequestsThatRepeatBeginThem) {
  RecordingWriter writer;
  writer.alloc(9, 999);
  for (int step = 0; step < 3; ++step) {
    for (Slot slot = 0; slot < 4; ++slot) writer.alloc(slot, 100 + slot);
    for (Slot slot = 0; slot < 4; ++slot) writer.free(slot);
  }
  const Recording recording = writer.recording();
  const Steps steps = steps_of(recording, recording.traces[0]);
  EXPECT_EQ(steps.source, Steps::Source::repetition);
  EXPECT_EQ(steps.begins, (std::vector<std::uint64_t>{1, 9, 17}));
}

TEST(Steps, WithoutAnyOfThoseThereAreNone) {
  const Recording recording = RecordingWriter().alloc(0, 1).alloc(1, 2).recording();
  EXPECT_EQ(steps_of(recording, recording.traces[0]).source, Steps::Source::none);
}

}  // namespace
}  // namespace memreplay

#include "program/steps.hpp"

#include <gtest/gtest.h>

#include "support/recordings.hpp"

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

// An optimizer asks for memory of its own, and gradients are freed after it.
RecordingWriter& optimized_step(RecordingWriter& writer, std::uint32_t batch, std::uint32_t state) {
  writer.alloc(0, 500, batch).alloc(1, 700);
  writer.annotate("Optimizer.step#SGD.step", true).alloc(2, 70, state).free(2);
  return writer.annotate("Optimizer.step#SGD.step", false).free(1).free(0);
}

TEST(Steps, TheOptimizersStepEndsOne) {
  RecordingWriter writer;
  const std::uint32_t batch = writer.stack({"train.py:7 run"});
  const std::uint32_t state = writer.stack({"/lib/torch/optim/sgd.py:3 step"});
  writer.alloc(9, 999);
  for (int i = 0; i < 3; ++i) optimized_step(writer, batch, state);
  writer.alloc(0, 500, batch).add(Op::oom, kNoSlot, 700);
  const Recording recording = writer.recording();
  const Steps steps = steps_of(recording, recording.traces[0]);
  EXPECT_EQ(steps.source, Steps::Source::annotations);
  EXPECT_EQ(steps.begins, (std::vector<std::uint64_t>{1, 7, 13, 19}));
  EXPECT_FALSE(steps.ends_whole);
}

TEST(Steps, WhereNothingIsAskedForAfterAnOptimizerTheLastOneIsWhole) {
  RecordingWriter writer;
  const std::uint32_t batch = writer.stack({"train.py:7 run"});
  for (int i = 0; i < 2; ++i) optimized_step(writer, batch, 0);
  const Recording recording = writer.recording();
  const Steps steps = steps_of(recording, recording.traces[0]);
  EXPECT_EQ(steps.begins, (std::vector<std::uint64_t>{0, 6}));
  EXPECT_TRUE(steps.ends_whole);
}

TEST(Steps, OptimizersThatTakeTurnsAreOfOneStep) {
  RecordingWriter writer;
  for (int i = 0; i < 4; ++i) {
    for (const char* line : {"gan.py:5 run", "gan.py:8 run"}) {
      optimized_step(writer, writer.stack({line}), 0);
    }
  }
  const Recording recording = writer.recording();
  EXPECT_EQ(steps_of(recording, recording.traces[0]).begins,
            (std::vector<std::uint64_t>{0, 12, 24, 36}));
}

// A step has many of them, and as many of its own scopes as its optimizer has steps.
TEST(Steps, CollectivesAndLayersAreNone) {
  RecordingWriter writer;
  for (int i = 0; i < 3; ++i) {
    writer.annotate("forward", true).alloc(0, 10).annotate("forward", false);
    for (int k = 0; k < 4; ++k) {
      writer.annotate("nccl:all_reduce", true).alloc(1, 5).annotate("nccl:all_reduce", false);
      writer.annotate("layer", true).free(1).annotate("layer", false);
    }
    writer.annotate("Optimizer.step#Adam.step", true).free(0);
    writer.annotate("Optimizer.step#Adam.step", false);
  }
  const Recording recording = writer.recording();
  EXPECT_EQ(steps_of(recording, recording.traces[0]).begins,
            (std::vector<std::uint64_t>{0, 10, 20}));
}

TEST(Steps, ALoopThatOnlyAllocatesIsNone) {
  RecordingWriter writer;
  Slot next = 0;
  for (int i = 0; i < 30; ++i) {
    for (Bytes kind = 1; kind < 6; ++kind) writer.alloc(next++, kind);
  }
  const Recording recording = writer.recording();
  EXPECT_EQ(steps_of(recording, recording.traces[0]).source, Steps::Source::none);
}

TEST(Steps, ALoopOfFewerThanFourRequestsIsNone) {
  RecordingWriter writer;
  for (int i = 0; i < 100; ++i) writer.alloc(0, 1).alloc(1, 2).free(0).free(1);
  const Recording recording = writer.recording();
  EXPECT_EQ(steps_of(recording, recording.traces[0]).source, Steps::Source::none);
}

TEST(Steps, WhatRepeatsThroughLessThanHalfOfTheRequestsIsNone) {
  RecordingWriter writer;
  for (Bytes i = 1; i < 30; ++i) writer.alloc(0, i * i).free(0);
  for (int i = 0; i < 4; ++i) {
    for (Bytes kind = 1; kind < 6; ++kind) writer.alloc(0, 1000 + kind).free(0);
  }
  const Recording recording = writer.recording();
  EXPECT_EQ(steps_of(recording, recording.traces[0]).source, Steps::Source::none);
}

/// Five lines that take turns, below callers.
Steps steps_below(const std::vector<std::string>& callers) {
  RecordingWriter writer;
  for (int i = 0; i < 20; ++i) {
    for (int line = 1; line < 6; ++line) {
      std::vector<std::string> frames = {"layer.py:" + std::to_string(line) + " forward"};
      frames.insert(frames.end(), callers.begin(), callers.end());
      writer.alloc(0, 100, writer.stack(frames)).free(0);
    }
  }
  const Recording recording = writer.recording();
  return steps_of(recording, recording.traces[0]);
}

TEST(Steps, WhatOneModuleOrOptimizerRepeatsIsNone) {
  EXPECT_EQ(steps_below({"train.py:9 main"}).source, Steps::Source::repetition);
  EXPECT_EQ(
      steps_below({"/lib/torch/nn/modules/module.py:1798 _call_impl", "train.py:9 main"}).source,
      Steps::Source::none);
  EXPECT_EQ(steps_below({"/lib/torch/optim/adam.py:79 step", "train.py:9 main"}).source,
            Steps::Source::none);
  EXPECT_EQ(steps_below({"model.py:5 __init__", "train.py:9 main"}).source, Steps::Source::none);
}

TEST(Steps, WithoutAnyOfThoseThereAreNone) {
  const Recording recording = RecordingWriter().alloc(0, 1).alloc(1, 2).recording();
  EXPECT_EQ(steps_of(recording, recording.traces[0]).source, Steps::Source::none);
}

}  // namespace
}  // namespace memreplay

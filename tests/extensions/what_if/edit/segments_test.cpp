#include "extensions/what_if/edit/segments.hpp"

#include <gtest/gtest.h>

#include "support/programs.hpp"

namespace memreplay {
namespace {

/// Who asked for memory, innermost frame first.
Recording asked_from(const std::vector<std::string>& frames) {
  return ProgramWriter().at(frames).ask(1).recording();
}

TEST(TorchOperations, AreToldByTheirFrames) {
  const Recording linear =
      asked_from({"site-packages/torch/nn/modules/linear.py:134 forward", "models.py:3 forward"});
  const std::uint32_t stack = linear.traces.front().stacks.front();
  EXPECT_TRUE(saves_weights(linear, stack));
  EXPECT_TRUE(needs_no_result(linear, stack));
  EXPECT_FALSE(needs_no_input(linear, stack));
  const Recording dropout = asked_from({"torch/nn/functional.py:9 dropout", "models.py:3 forward"});
  EXPECT_TRUE(needs_no_input(dropout, stack));
  EXPECT_FALSE(saves_weights(dropout, stack));
  EXPECT_FALSE(needs_no_result(dropout, stack));
}

TEST(TorchOperations, OtherCodeOfThatNameIsNone) {
  const Recording own = asked_from({"models/linear.py:134 forward", "models.py:3 embedding"});
  const std::uint32_t stack = own.traces.front().stacks.front();
  EXPECT_FALSE(saves_weights(own, stack));
  EXPECT_FALSE(needs_no_result(own, stack));
}

/// "FIRST-LAST again before SIZE" of each, by what the program asks for then.
std::string segments(const Recording& recording) {
  const ProgramCourse course(recording, recording.traces.front());
  const Segments found =
      segments_of(course, parse_selector("--select", "code=models.py:11-13"), CheckpointEdit());
  std::string told;
  for (const Segment& segment : found.segments) {
    told += fmt::format("{}{}-{} again before {}", told.empty() ? "" : ", ", segment.first,
                        segment.last, course.trace().sizes[segment.again]);
  }
  return told;
}

TEST(Segments, ABackwardBeginsBehindThatOfWhatFollows) {
  EXPECT_EQ(segments(two_layers().recording()), "1-4 again before 43, 4-7 again before 41");
}

TEST(Segments, WhatFollowsMayBeComputedAgainItself) {
  ProgramWriter program;
  for (const int line : {11, 12, 13}) program.at(layer_line(line)).ask(static_cast<Bytes>(line));
  const std::vector<std::string> other = {"models.py:31 other", "train.py:6 step"};
  program.at(other).ask(21).free(21).ask(30);
  program.backward().ask(40).free(30).at(other).ask(21).backward().ask(41).free(21).free(13);
  program.ask(42).free(12).ask(43).free(11);
  EXPECT_EQ(segments(program.recording()), "0-3 again before 42");
}

TEST(Segments, NothingIsLookedForWhereNothingIsSaved) {
  ProgramWriter program;
  for (const int line : {11, 12, 13}) program.at(layer_line(line)).ask(static_cast<Bytes>(line));
  program.free(11).free(12).backward().ask(40).free(13);
  const Recording recording = program.recording();
  const ProgramCourse course(recording, recording.traces.front());
  const Segments found =
      segments_of(course, parse_selector("--select", "code=models.py:11-13"), CheckpointEdit());
  ASSERT_EQ(found.segments.size(), 1u);
  EXPECT_FALSE(found.segments.front().is_checkpointed());
  EXPECT_EQ(found.layers, 1u);
}

}  // namespace

}  // namespace memreplay

#include "extensions/what_if/edit/code_instances.hpp"

#include <gtest/gtest.h>

#include "extensions/what_if/edit/edit.hpp"
#include "support/programs.hpp"

namespace memreplay {
namespace {

TEST(Passes, ABackwardPassHasNoFramesOfPython) {
  RecordingWriter writer;
  const auto own = writer.stack({"train.py:5 step"});
  const auto library = writer.stack({"site-packages/torch/optim/adamw.py:5 step"});
  const auto native = writer.stack({"engine.cpp:5 torch::autograd::Engine::execute()"});
  const auto called =
      writer.stack({"site-packages/torch/autograd/__init__.py:369 backward", "train.py:6 step"});
  const auto other = writer.stack({"models.py:7 backward", "train.py:6 step"});
  const Recording recording = writer.alloc(0, 8, own).recording();
  const Passes passes(recording, recording.traces.front());
  EXPECT_TRUE(passes.are_known());
  EXPECT_TRUE(passes.is_backward(0));
  EXPECT_TRUE(passes.is_backward(native));
  EXPECT_TRUE(passes.is_backward(called));
  EXPECT_FALSE(passes.is_backward(own));
  EXPECT_FALSE(passes.is_backward(library));
  EXPECT_FALSE(passes.is_backward(other));
}

TEST(Passes, RequestsBeforeAnEventAreCounted) {
  const Recording recording =
      ProgramWriter().at({"a.py:1 f"}).ask(8).ask(4).backward().ask(2).free(8).ask(1).recording();
  const Passes passes(recording, recording.traces.front());
  EXPECT_EQ(passes.others_before(0), 0u);
  EXPECT_EQ(passes.others_before(2), 2u);
  EXPECT_EQ(passes.backward_before(2), 0u);
  EXPECT_EQ(passes.backward_before(4), 1u);
  EXPECT_EQ(passes.backward_before(5), 2u) << "behind the last event";
}

TEST(Passes, SavedIsWhatABackwardPassFindsAndFrees) {
  const Recording recording = ProgramWriter()
                                  .at({"a.py:1 f"})
                                  .ask(1)
                                  .ask(2)
                                  .ask(3)
                                  .free(1)
                                  .backward()
                                  .ask(4)
                                  .free(2)
                                  .ask(5)
                                  .free(4)
                                  .recording();
  const Trace& trace = recording.traces.front();
  const Passes passes(recording, trace);
  const std::vector<BlockLife> blocks = lives_of(trace).blocks;
  EXPECT_FALSE(passes.is_saved(blocks[0])) << "freed in the forward";
  EXPECT_TRUE(passes.is_saved(blocks[1]));
  EXPECT_FALSE(passes.is_saved(blocks[2])) << "never freed";
  EXPECT_FALSE(passes.is_saved(blocks[3])) << "of the backward itself";
}

TEST(Passes, WithoutStacksNoneIsKnown) {
  Recording recording = RecordingWriter().alloc(0, 8).alloc(1, 4).free(0).recording();
  recording.stacks.clear();
  recording.traces.front().stacks.clear();
  const Passes passes(recording, recording.traces.front());
  EXPECT_FALSE(passes.are_known());
  EXPECT_FALSE(passes.is_saved(lives_of(recording.traces.front()).blocks[0]));
}

/// "FIRST-LAST RUN/STEP PLACE/PLACE_IN_RUN" of each.
std::string instances(const Recording& recording, const std::string& code) {
  const Trace& trace = recording.traces.front();
  const Passes passes(recording, trace);
  std::string told;
  for (const CodeInstance& i : instances_of(recording, trace, allocations_of(trace), passes,
                                            parse_selector("--select", code))) {
    told += fmt::format("{}{}-{} {}/{} {}/{}", told.empty() ? "" : ", ", i.first, i.last, i.run,
                        i.step, i.place, i.place_in_run);
  }
  return told;
}

TEST(CodeInstances, ALayerBeginsWhereItsFirstLineRunsAgain) {
  EXPECT_EQ(instances(two_layers().recording(), "code=models.py:11-13"),
            "1-4 0/0 0/0, 4-7 0/0 1/1");
}

TEST(CodeInstances, OneLineMayAskSeveralTimes) {
  ProgramWriter program;
  for (const Bytes layer : {10, 20}) {
    program.at({"linear.py:134 forward", "models.py:13 forward", "train.py:5 step"}).ask(layer + 1);
    program.at({"models.py:13 forward", "train.py:5 step"}).ask(layer + 2).ask(layer + 3);
  }
  EXPECT_EQ(instances(program.recording(), "code=models.py:13"), "0-3 0/0 0/0, 3-6 0/0 1/1");
}

TEST(CodeInstances, TheFirstLineMayComeBackToAWayOfAsking) {
  ProgramWriter program;
  for (int layer = 0; layer < 2; ++layer) {
    program.at(layer_line(11)).ask(1);
    program.at({"_tensor.py:40 wrapped", "models.py:11 forward", "train.py:5 step"}).ask(2);
    program.at(layer_line(11)).ask(3);
    program.at(layer_line(12)).ask(4);
  }
  EXPECT_EQ(instances(program.recording(), "code=models.py:11-12"), "0-4 0/0 0/0, 4-8 0/0 1/1");
}

/// `down(act(up(x)))` on a line of its own, of these sizes.
void one_line_of_three(ProgramWriter& program, Bytes up, Bytes act, Bytes down) {
  const std::vector<std::string> linear = {"linear.py:134 forward", "models.py:13 mlp",
                                           "train.py:5 step"};
  program.at(linear).ask(up).at({"models.py:13 mlp", "train.py:5 step"}).ask(act);
  program.at(linear).ask(down);
}

TEST(CodeInstances, ALineMayEndAsItBegan) {
  ProgramWriter program;
  one_line_of_three(program, 40, 41, 12);
  program.at({"models.py:20 forward", "train.py:5 step"}).ask(9);
  one_line_of_three(program, 40, 41, 12);
  program.at({"train.py:6 step"}).ask(9);
  EXPECT_EQ(instances(program.recording(), "code=models.py:13"), "0-3 0/0 0/0, 4-7 1/0 1/0");
}

TEST(CodeInstances, AWholeLineRepeatsItsSizes) {
  const std::vector<std::string> linear = {"linear.py:134 forward", "models.py:13 mlp",
                                           "train.py:5 step"};
  const std::vector<std::string> own = {"models.py:13 mlp", "train.py:5 step"};
  ProgramWriter program;
  for (int layer = 0; layer < 2; ++layer) {
    program.at(linear).ask(40).at(own).ask(40).at(linear).ask(12).at(own).ask(12);
  }
  EXPECT_EQ(instances(program.recording(), "code=models.py:13"), "0-4 0/0 0/0, 4-8 0/0 1/1");
}

/// A block of a residual network behind one line: what its lines ask for, those of its shortcut
/// too.
void residual_block(ProgramWriter& program, std::initializer_list<int> lines, Bytes width) {
  for (const int line : lines) {
    program.at(
        {fmt::format("resnet.py:{} forward", line), "models.py:13 layer_of", "train.py:5 step"});
    program.ask(width + static_cast<Bytes>(line));
  }
}

TEST(CodeInstances, SomeLayersDoMoreThanOthers) {
  ProgramWriter program;
  residual_block(program, {1, 2, 3, 9}, 100);
  residual_block(program, {1, 2, 3}, 100);
  residual_block(program, {1, 2, 3, 9}, 200);
  residual_block(program, {1, 2, 3}, 200);
  program.at({"train.py:6 step"}).ask(9);
  EXPECT_EQ(instances(program.recording(), "function=layer_of"),
            "0-4 0/0 0/0, 4-7 0/0 1/1, 7-11 0/0 2/2, 11-14 0/0 3/3");
}

TEST(CodeInstances, OfLayersThatDoNothingAlikeNoneIsTold) {
  ProgramWriter program;
  residual_block(program, {1, 2, 3}, 100);
  residual_block(program, {1, 4, 3}, 100);
  program.at({"train.py:6 step"}).ask(9);
  EXPECT_EQ(instances(program.recording(), "function=layer_of"), "0-6 0/0 0/0");
}

TEST(CodeInstances, AnExpressionOverSeveralLinesMayGoBack) {
  ProgramWriter program;
  for (const Bytes layer : {10, 20}) {
    program.at(layer_line(11)).ask(layer + 1);
    program.at(layer_line(13)).ask(layer + 2);
    program.at(layer_line(12)).ask(layer + 3);
  }
  EXPECT_EQ(instances(program.recording(), "function=forward"), "0-3 0/0 0/0, 3-6 0/0 1/1");
}

TEST(CodeInstances, LayersCalledFromTwoLinesAreTwo) {
  ProgramWriter program;
  program.at({"models.py:13 forward", "train.py:5 step"}).ask(1);
  program.at({"models.py:13 forward", "train.py:6 step"}).ask(2);
  EXPECT_EQ(instances(program.recording(), "function=forward"), "0-1 0/0 0/0, 1-2 0/0 1/1");
}

TEST(CodeInstances, TheOutermostFrameOfTheCodeCounts) {
  ProgramWriter program;
  program.at({"models.py:12 forward", "models.py:30 forward", "train.py:5 step"}).ask(1);
  program.at({"models.py:13 forward", "models.py:31 forward", "train.py:5 step"}).ask(2);
  EXPECT_EQ(instances(program.recording(), "function=forward"), "0-2 0/0 0/0");
}

TEST(CodeInstances, ARequestOfOtherCodeEndsARun) {
  ProgramWriter program;
  program.at(layer_line(11)).ask(1);
  program.at({"train.py:6 step"}).ask(2);
  program.at(layer_line(11)).ask(3);
  EXPECT_EQ(instances(program.recording(), "function=forward"), "0-1 0/0 0/0, 2-3 1/0 1/0");
}

TEST(CodeInstances, ABackwardPassEndsAStep) {
  ProgramWriter program;
  for (const Bytes step : {10, 20}) {
    program.at(layer_line(11)).ask(step + 1);
    program.at(layer_line(12)).ask(step + 2);
    program.at(layer_line(11)).ask(step + 3);
    program.backward().ask(step + 4).free(step + 1);
  }
  EXPECT_EQ(instances(program.recording(), "function=forward"),
            "0-2 0/0 0/0, 2-3 0/0 1/1, 4-6 1/1 0/0, 6-7 1/1 1/1");
}

TEST(CodeInstances, CodeThatNeverRanHasNone) {
  EXPECT_EQ(instances(two_layers().recording(), "function=backwards"), "");
}

TEST(ProgramCourse, CountsAllocations) {
  ProgramWriter program;
  program.at(layer_line(11)).ask(5).ask(6).free(5).backward().ask(7);
  const Recording recording = program.recording();
  const ProgramCourse course(recording, recording.traces.front());
  EXPECT_EQ(course.allocations(), (std::vector<std::uint64_t>{0, 1, 3}));
  EXPECT_EQ(course.event_of(2), 3u);
  EXPECT_EQ(course.event_of(3), 4u) << "the end of the trace";
  EXPECT_EQ(course.allocation_from(1), 1u);
  EXPECT_EQ(course.request_behind(1), 3u);
  EXPECT_FALSE(course.is_backward(1));
  EXPECT_TRUE(course.is_backward(2));
  EXPECT_FALSE(course.ran_out());
}

TEST(ProgramCourse, AnOperationReturnsItsLargestBlockThatIsAlive) {
  ProgramWriter program;
  program.at(layer_line(11)).ask(50);
  program.at(layer_line(12)).ask(20).ask(30).ask(30).ask(60).free(60);
  program.at(layer_line(13)).ask(1);
  const Recording recording = program.recording();
  const ProgramCourse course(recording, recording.traces.front());
  EXPECT_EQ(course.value_at(0, 5, 5), course.block_of(3)) << "of equal ones the latest";
  EXPECT_EQ(course.value_at(0, 1, 5), course.block_of(0));
  EXPECT_EQ(course.value_at(0, 0, 5), BlockLives::kNone);
}

// `out += identity`, in place, where the shortcut ends in a norm that keeps two numbers.
TEST(ProgramCourse, AShortcutThatEndsInANormIsAddedToWhatThePassFreesFirst) {
  ProgramWriter program;
  program.at(layer_line(11)).ask(50).ask(3);
  program.at(layer_line(12)).ask(50);
  program.at(layer_line(13)).ask(50).ask(4).ask(5).free_latest(50);
  program.at({"train.py:6 step"}).ask(9).backward().ask(1);
  program.free_latest(50).ask(2).free(5).free(4).free(50).free(3);
  const Recording recording = program.recording();
  const ProgramCourse course(recording, recording.traces.front());
  EXPECT_EQ(course.value_at(0, 6, 6), course.block_of(2));
}

TEST(ProgramCourse, WhatLivesOfTheLastOperationIsItsResultWhereNothingElseCanBe) {
  ProgramWriter program;
  program.at(layer_line(12)).ask(40);
  program.at(layer_line(13)).ask(50).ask(4).free(50);
  program.at({"train.py:6 step"}).ask(9).backward().ask(1).free(40).free(4);
  const Recording recording = program.recording();
  const ProgramCourse course(recording, recording.traces.front());
  EXPECT_EQ(course.value_at(0, 3, 3), course.block_of(2)) << "a cast, not a norm";
}

}  // namespace

}  // namespace memreplay

#include <gtest/gtest.h>

#include "analysis/edit/edit.hpp"
#include "analysis/edit/program_course.hpp"
#include "analysis/edit/programs.hpp"

namespace memreplay {
namespace {

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

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "extensions/what_if/edit/block_edits.hpp"
#include "support/programs.hpp"
#include "trace/gate.hpp"

namespace memreplay {
namespace {

EditedBlocks moved(const Recording& recording, const std::string& text,
                   const OffloadGuess& guess = {.deaths = Deaths::by_scope}) {
  EditedBlocks blocks = offloaded(recording, recording.traces.front(), parse_edit(text), guess);
  EXPECT_FALSE(fault_in(blocks.written.trace));
  return blocks;
}

std::string moved_told(const ProgramWriter& program, const std::string& text = "offload:saved",
                       const OffloadGuess& guess = {}) {
  return told(moved(ProgramWriter(program).recording(), text, guess).written.trace);
}

TEST(Offload, WhatIsSavedLeavesAndComesBackWithTheOperationThatNeedsIt) {
  const EditedBlocks blocks = moved(two_layers().recording(), "offload:function=forward");
  EXPECT_EQ(told(blocks.written.trace),
            "+100 +11 +12 +13 -11 -12 +21 -13 +22 +23 -21 -22 +30 -100 +40 -30 -23 "
            "+22 +41 -22 -40 +13 +21 +42 -21 -13 -41 +12 +43 -12 -42 +100 +11 +44 -11 -100 -43")
      << "23 goes with 30, which other code saved, and 100 with 11";
  EXPECT_EQ(blocks.facts.blocks, 6u);
  EXPECT_EQ(blocks.facts.bytes, 179u);
  EXPECT_EQ(blocks.facts.moved_bytes, 358u);
  EXPECT_EQ(blocks.facts.other_memory_peak, 179u);
  EXPECT_EQ(blocks.facts.moving_seconds, 0);
}

TEST(Offload, ABandwidthGivesItsTime) {
  EXPECT_EQ(
      moved(two_layers().recording(), "offload:saved,size<23,bandwidth=158").facts.moving_seconds,
      1.0);
}

TEST(Offload, WhatIsNotSelectedStays) {
  EXPECT_EQ(told(moved(two_layers().recording(), "offload:size<=11").written.trace),
            "+100 +11 +12 +13 -11 +21 +22 +23 +30 "
            "+40 -30 -23 +41 -22 -40 +42 -21 -41 -13 +43 -12 -42 +11 +44 -11 -43 -100");
}

TEST(Offload, NothingSavedIsRefused) {
  try {
    moved(ProgramWriter().ask(80).ask(5).free(80).free(5).recording(), "offload:size>=0");
    FAIL() << "moved";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "--edit offload:size>=0: nothing selected is saved for a backward pass");
  }
}

/// The frame of a step's line.
std::vector<std::string> step_line(int line) { return {fmt::format("train.py:{} step", line)}; }

TEST(Offload, WhatAVariableHoldsStays) {
  ProgramWriter program;
  program.at(step_line(4)).ask(11).at(step_line(5)).ask(12).at(step_line(6)).ask(13);
  program.backward().ask(40).free(13).ask(41).free(40).free(11);
  program.at(step_line(7)).ask(5).free(5).free(12);
  EXPECT_EQ(moved_told(program), "+11 +12 -11 +13 -13 +13 +40 -13 +11 +41 -11 -40 +5 -5 -12");
}

TEST(Offload, WhatGoesLastButCameLaterWasHeldByAVariable) {
  ProgramWriter program;
  program.at(step_line(4)).ask(11).at(step_line(5)).ask(12).at(step_line(6)).ask(13);
  program.backward().ask(40).free(13).ask(41).free(40).free(11).ask(42).free(41).free(12);
  EXPECT_EQ(moved_told(program), "+11 +12 -11 +13 -13 +13 +40 -13 +11 +41 -11 -40 +42 -41 -12");
}

TEST(Offload, ParametersThatGoWithTheProgramAreNotSaved) {
  ProgramWriter program;
  program.at({"train.py:1 main"}).ask(100);
  program.at(step_line(4)).ask(11).at(step_line(5)).ask(12);
  program.backward().ask(40).free(12).ask(41).free(40).free(11);
  program.at({"torch/optim/sgd.py:9 step"}).ask(7).free(7).free(100);
  EXPECT_EQ(moved_told(program), "+100 +11 +12 -12 -11 +12 +40 -12 +11 +41 -11 -40 +7 -7 -100");
}

/// A layer of 32 inputs and 64 outputs without a bias, whose input and result others need, too.
ProgramWriter one_layer() {
  ProgramWriter program;
  program.at({"models.py:1 __init__"}).ask(8192);
  program.at({"torch/nn/modules/linear.py:134 forward", "train.py:3 step"}).ask(16384);
  program.at({"torch/nn/modules/linear.py:134 forward", "train.py:5 step"}).ask(32768);
  program.at(step_line(6)).ask(4);
  program.backward().ask(8).free(32768).free(4);
  program.ask(8192).ask(16384).free(8).ask(9).free(16384).free(16384);
  program.at(step_line(9)).ask(5).free(5).free(9);
  return program;
}

TEST(Offload, AProductTakesItsWeightAndWhatAnotherOperationSavedAgain) {
  const std::string told = moved_told(one_layer());
  EXPECT_NE(told.find("+8192 +16384 +8192 +16384 -16384 -8192 -8 "), told.npos) << told;
}

TEST(Offload, ThatNothingIsSavedTwiceIsAnotherGuess) {
  const std::string told = moved_told(one_layer(), "offload:saved", {.once = true});
  EXPECT_EQ(told.find("+8192 +16384 +8192"), told.npos) << told;
}

TEST(Offload, ALineThatCallsTheCodeMayBeMeantAsAWhole) {
  ProgramWriter program;
  const std::string call = "models.py:9 forward";
  program.at({"models.py:20 norm", call}).ask(11);
  program.at({"models.py:5 mlp", call}).ask(12);
  program.backward().ask(40).free(12).ask(41).free(11).free(40);
  const std::string edit = "offload:code=models.py:5-5,saved";
  EXPECT_EQ(moved_told(program, edit), "+11 +12 -12 +12 +40 -12 +41 -11 -40");
  EXPECT_EQ(moved_told(program, edit, {.whole_lines = true}),
            "+11 +12 -12 -11 +12 +40 -12 +11 +41 -11 -40");
}

}  // namespace
}  // namespace memreplay

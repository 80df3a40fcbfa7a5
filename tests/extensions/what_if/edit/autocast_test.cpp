#include <gtest/gtest.h>

#include "core/error.hpp"
#include "extensions/what_if/edit/block_edits.hpp"
#include "support/programs.hpp"
#include "trace/gate.hpp"

namespace memreplay {
namespace {

const std::vector<std::string> kLinearFrames = {"torch/nn/modules/linear.py:134 forward",
                                                "train.py:5 step"};
const std::vector<std::string> kNormFrames = {"torch/nn/functional.py:2993 layer_norm",
                                              "train.py:6 step"};
const std::vector<std::string> kLossFrames = {"torch/nn/functional.py:3561 cross_entropy",
                                              "train.py:8 step"};

EditedBlocks under_autocast(const Recording& recording, const std::string& options = "to=bf16",
                            const AutocastGuess& guess = {}) {
  EditedBlocks blocks =
      autocasted(recording, recording.traces.front(), parse_edit("autocast:" + options), guess);
  EXPECT_FALSE(fault_in(blocks.written.trace));
  return blocks;
}

std::string autocast_told(const Recording& recording, const std::string& options = "to=bf16",
                          const AutocastGuess& guess = {}) {
  return told(under_autocast(recording, options, guess).written.trace);
}

std::string autocast_refusal(const Recording& recording) {
  try {
    under_autocast(recording);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

/// A layer of 32 inputs and 64 outputs, and their bias.
ProgramWriter with_a_layer() {
  ProgramWriter program;
  program.at({"models.py:1 __init__"}).ask(8192).ask(256);
  return program;
}

/// 128 rows of data, given to the layer.
ProgramWriter one_product() {
  ProgramWriter program = with_a_layer();
  program.at({"train.py:4 step"}).ask(16384).at(kLinearFrames).ask(32768);
  return program;
}

TEST(Autocast, AProductIsOfHalfPrecisionAndItsGradientsAreCastBack) {
  ProgramWriter program = one_product();
  program.at({"train.py:9 step"}).ask(4).backward().ask(8192).ask(256).free(32768).free(16384);
  const EditedBlocks edited = under_autocast(program.recording(), "cache=false");
  EXPECT_EQ(told(edited.written.trace),
            "+8192 +256 +16384 "
            "+4096 +128 +8192 +16384 -4096 -128 -16384 +4 "
            "+4096 +128 -16384 -8192 +8192 -4096 +256 -128");
  EXPECT_EQ(edited.facts.blocks, 1u);
  EXPECT_EQ(edited.facts.bytes, 32768u);
}

TEST(Autocast, CachedCopiesOfWeightsLiveToTheEndOfThePass) {
  ProgramWriter program = one_product();
  program.at({"train.py:9 step"}).ask(4).backward().ask(8192).ask(256).free(32768).free(16384);
  const std::string told = autocast_told(program.recording());
  EXPECT_NE(told.find("+4096 +128 +8192 +16384 -16384 +4 -4096 -128"), told.npos) << told;
}

TEST(Autocast, AWeightIsSavedForAGradientOfItsInput) {
  ProgramWriter program = with_a_layer();
  program.at({"torch/nn/modules/linear.py:134 forward", "train.py:3 step"}).ask(16384);
  program.at(kLinearFrames).ask(32768).at({"train.py:9 step"}).ask(4);
  program.backward().ask(16388).free(32768).ask(16384).ask(8192).ask(256);
  program.free(16388).free(16384);
  const std::string told = autocast_told(program.recording(), "cache=false");
  EXPECT_NE(told.find("+8192 +4096 +128 -16388 -8192 -4096 +8192 -4096 +256 -128"), told.npos)
      << told;
}

TEST(Autocast, NormsTakeACopyInFp32WhichIsSaved) {
  ProgramWriter program = one_product();
  program.at(kNormFrames)
      .ask(32768)
      .at({"train.py:9 step"})
      .ask(4)
      .backward()
      .ask(4096)
      .free(32768);
  program.ask(8192).ask(256).free(16384);
  const std::string told = autocast_told(program.recording(), "cache=false");
  EXPECT_NE(told.find("+16384 -4096 -128 +32768 -16384 +32768 -16384 +4"), told.npos) << told;
  EXPECT_NE(told.find("+4096 -32768"), told.npos) << told;
}

TEST(Autocast, CrossEntropyCopiesTheLogarithmsAlone) {
  ProgramWriter program = one_product();
  program.at(kLossFrames).ask(32768).ask(4).at({"train.py:9 step"}).ask(8);
  program.backward().ask(32768).ask(32768).free(32768).free(32768).ask(8192).ask(256).free(16384);
  const std::string told = autocast_told(program.recording(), "cache=false");
  EXPECT_NE(told.find("+16384 +4 +32768 +8 +32768 -32768 +16384"), told.npos) << told;
}

TEST(Autocast, WithoutABackwardAWeightIsToldByTheRowsThatMostProductsHave) {
  ProgramWriter program;
  program.at({"models.py:1 __init__"}).ask(65536).ask(131072);
  program.at({"train.py:4 step"}).ask(32768);
  program.at(kLinearFrames).ask(32768).free(32768);
  program.at({"torch/nn/modules/linear.py:134 forward", "train.py:6 step"}).ask(65536);
  EXPECT_EQ(autocast_told(program.recording(), "cache=false"),
            "+65536 +131072 +32768 +32768 +16384 +16384 -32768 -32768 -16384 +65536 +32768 -65536");
}

/// x + layer(x), x being what a line made; the sum is saved.
ProgramWriter sum_of_both(const std::vector<std::string>& made_by) {
  ProgramWriter program = with_a_layer();
  program.at({"train.py:2 step"}).ask(16384).at(made_by).ask(32768);
  program.at(kLinearFrames).ask(32772).at({"train.py:7 step"}).ask(32772).free(32772);
  program.at({"train.py:9 step"}).ask(4);
  program.backward().ask(8192).ask(256).free(32768).free(16384).free(32772);
  return program;
}

TEST(Autocast, WhatNoFrameNamesFollowsItsOperands) {
  const Recording recording = sum_of_both({"train.py:3 step"}).recording();
  const std::string promoted = autocast_told(recording, "cache=false");
  EXPECT_NE(promoted.find("+16386 -16386"), promoted.npos) << promoted;
  const std::string single =
      autocast_told(recording, "cache=false", {.unnamed = AutocastGuess::Unnamed::single});
  EXPECT_NE(single.find("+32772 -16386"), single.npos) << single;
}

TEST(Autocast, ProgramsThatShowNothingToCastAreRefused) {
  EXPECT_EQ(autocast_refusal(ProgramWriter().at({"train.py:1 step"}).ask(8).recording()),
            "--edit autocast:to=bf16: no stack of this recording shows a matrix product, a "
            "convolution or attention");
  EXPECT_EQ(autocast_refusal(ProgramWriter().ask(8).recording()),
            "--edit autocast:to=bf16: inferred from stacks, and this recording has none");
  std::vector<std::string> cast = kLinearFrames;
  cast.insert(cast.begin(), "??:0 at::autocast::cached_cast(c10::ScalarType)");
  ProgramWriter program = one_product();
  EXPECT_EQ(autocast_refusal(program.at(cast).ask(4096).recording()),
            "--edit autocast:to=bf16: the recorded program runs under autocast already");
}

}  // namespace
}  // namespace memreplay

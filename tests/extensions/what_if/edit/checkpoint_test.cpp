#include <gtest/gtest.h>

#include <optional>

#include "core/error.hpp"
#include "extensions/what_if/edit/block_edits.hpp"
#include "support/programs.hpp"
#include "trace/gate.hpp"

namespace memreplay {
namespace {

Checkpointed made(const Recording& recording, const std::string& how = "",
                  const CheckpointGuess& guess = {}) {
  const Edit edit = parse_edit("checkpoint:code=models.py:11-13" + how);
  Checkpointed made = checkpointed(recording, recording.traces.front(), edit, guess);
  EXPECT_FALSE(fault_in(made.written.trace));
  return made;
}

std::string told_of(const Recording& recording, const std::string& how = "",
                    const CheckpointGuess& guess = {}) {
  return told(made(recording, how, guess).written.trace);
}

/// One layer, then what `head` asks for; the rest is its backward.
ProgramWriter one_layer(const std::vector<std::string>& head = {"train.py:6 step"}) {
  ProgramWriter program;
  program.at({"train.py:4 step"}).ask(100);
  for (const int line : {11, 12, 13}) program.at(layer_line(line)).ask(static_cast<Bytes>(line));
  return program.at(head).ask(30).backward();
}

/// Two layers, the first line of which asks for three blocks.
ProgramWriter lines_of_three() {
  ProgramWriter program;
  for (const Bytes layer : {10, 20}) {
    program.at(layer_line(11)).ask(layer + 1).ask(layer + 2).ask(layer + 3).free(layer + 2);
    program.at(layer_line(12)).ask(layer + 4);
  }
  program.backward().ask(40).free(24).free(23).free(21);
  program.ask(41).free(40).free(14).free(13).free(11).free(41);
  return program;
}

TEST(Checkpoint, WhatALayerSavesDiesWithItAndIsAskedForAgainBeforeItsBackward) {
  const Checkpointed layers = made(two_layers().recording());
  EXPECT_EQ(told(layers.written.trace),
            "+100 +11 +12 +13 -11 -12 +21 +22 +23 -21 -22 +30 "
            "+40 -30 -23 +21 +22 +41 -22 -40 +42 -21 -41 -13 "
            "+11 +12 +43 -12 -42 +44 -11 -43 -100");
  EXPECT_FALSE(layers.open);
  EXPECT_EQ(layers.facts.blocks, 4u);
  EXPECT_EQ(layers.facts.bytes, 66u);
  EXPECT_EQ(layers.facts.recomputed_bytes, 66u);
  EXPECT_EQ(layers.facts.recomputed_requests, 4u);
}

TEST(Checkpoint, FramesOfNativeCodeChangeNothing) {
  for (ProgramWriter program : {two_layers(), lines_of_three()}) {
    const Recording recording = program.recording();
    EXPECT_EQ(told_of(with_native_frames(recording)), told_of(recording));
  }
}

TEST(Checkpoint, TwoLayersInOneSaveNothingBetweenThem) {
  EXPECT_EQ(told_of(two_layers().recording(), ",group=2"),
            "+100 +11 +12 +13 -11 -12 +21 -13 +22 +23 -21 -22 +30 "
            "+40 -30 -23 +11 +12 +13 +21 +22 +41 -22 -40 +42 -21 -41 -13 "
            "+43 -12 -42 +44 -11 -43 -100");
}

TEST(Checkpoint, OfGroupsWithinAGroupTheFirstGivesTheNextItsInputOnceMore) {
  const Checkpointed layers = made(two_layers().recording(), ",group=2/1");
  EXPECT_EQ(told(layers.written.trace),
            "+100 +11 +12 +13 -11 -12 +21 -13 +22 +23 -21 -22 +30 "
            "+40 -30 -23 +11 +12 +13 -11 -12 +21 +22 +41 -22 -40 +42 -21 -41 -13 "
            "+11 +12 +43 -12 -42 +44 -11 -43 -100");
  EXPECT_EQ(layers.facts.recomputed_bytes, 66u + 36);
  EXPECT_EQ(layers.facts.recomputed_requests, 7u);
  EXPECT_EQ(layers.facts.largest_segment, 43u);
}

TEST(Checkpoint, EveryOtherLayerBeginsWithTheFirst) {
  const std::string first_alone =
      "+100 +11 +12 +13 -11 -12 +21 +22 +23 +30 "
      "+40 -30 -23 +41 -22 -40 +42 -21 -41 -13 "
      "+11 +12 +43 -12 -42 +44 -11 -43 -100";
  EXPECT_EQ(told_of(two_layers().recording(), ",only=2"), first_alone);
  EXPECT_EQ(told_of(two_layers().recording(), ",segments=2"), first_alone)
      << "the last of the segments is plain";
}

TEST(Checkpoint, TemporariesAreAskedForAgainToo) {
  ProgramWriter program;
  program.at(layer_line(11)).ask(5).ask(11).free(5);
  program.at(layer_line(12)).ask(6).ask(12).free(6);
  program.at(layer_line(13)).ask(7).ask(13).free(7);
  program.at({"train.py:6 step"}).ask(30);
  program.backward().ask(40).free(30).free(13).ask(41).free(12).ask(42).free(11);
  // It ends after the last block that is saved: 7 is not asked for again.
  EXPECT_EQ(told_of(program.recording()),
            "+5 +11 -5 +6 +12 -6 +7 +13 -7 -11 -12 +30 +40 -30 -13 "
            "+5 +11 -5 +6 +12 -6 +41 -12 +42 -11");
}

TEST(Checkpoint, AReentrantOneAlsoHasItsOutputAndTheGradientOfThatUntilItEnds) {
  const Recording recording = one_layer()
                                  .ask(13)
                                  .free(30)
                                  .free(13)
                                  .ask(42)
                                  .free(12)
                                  .free(13)
                                  .ask(43)
                                  .free(11)
                                  .free(42)
                                  .free(100)
                                  .recording();
  EXPECT_EQ(told_of(recording),
            "+100 +11 +12 +13 -11 -12 +30 +13 -30 -13 +11 +12 +42 -12 -13 +43 -11 -42 -100");
  EXPECT_EQ(
      told_of(recording, ",reentrant=true"),
      "+100 +11 +12 +13 -11 -12 +30 +13 -30 -13 +11 +12 +13 +42 -12 +43 -11 -42 -13 -13 -100");
}

TEST(Checkpoint, TheInputIsHeldUntilTheBackwardOfTheLayerEnds) {
  ProgramWriter program;
  program.at({"train.py:4 step"}).ask(100);
  for (const int line : {11, 12, 13}) program.at(layer_line(line)).ask(static_cast<Bytes>(line));
  program.free(100).at({"train.py:6 step"}).ask(30);
  program.backward().ask(40).free(30).free(13).ask(41).free(12).ask(42).free(11);
  EXPECT_EQ(told_of(program.recording()),
            "+100 +11 +12 +13 -11 -12 +30 +40 -30 -13 +11 +12 +41 -12 +42 -100 -11");
}

TEST(Checkpoint, AnInputThatTheBackwardFreesIsHeldUntilThatEnds) {
  ProgramWriter program;
  program.at({"train.py:3 step"}).ask(90).at({"train.py:4 step"}).ask(100);
  for (const int line : {11, 12, 13}) program.at(layer_line(line)).ask(static_cast<Bytes>(line));
  program.at({"train.py:6 step"}).ask(30);
  program.backward().ask(40).free(30).free(13).ask(41).free(12).free(90).ask(42).free(11).free(100);
  EXPECT_EQ(told_of(program.recording()),
            "+90 +100 +11 +12 +13 -11 -12 +30 +40 -30 -13 +11 +12 +41 -12 +42 -90 -11 -100");
}

TEST(Checkpoint, LayersThatAreAlikeTellWhereTheBackwardOfOneBegins) {
  ProgramWriter program;
  program.at({"train.py:4 step"}).ask(100);
  for (int layer = 0; layer < 3; ++layer) {
    for (const int line : {11, 12, 13}) program.at(layer_line(line)).ask(static_cast<Bytes>(line));
  }
  // The gradient of a table is asked for by what follows the layers, but frees nothing of it.
  program.at({"train.py:6 step"}).ask(30);
  program.backward().ask(40).free(30).free_latest(13).ask(45).ask(46).free(45);
  for (const Bytes input : {13, 13, 100}) {
    program.ask(41).free_latest(12).ask(42).free_latest(11).free_latest(input);
  }
  EXPECT_EQ(told_of(program.recording()),
            "+100 +11 +12 +13 -11 -12 +11 +12 +13 -11 -12 +11 +12 +13 -11 -12 +30 "
            "+40 -30 -13 +45 +46 -45 +11 +12 +41 -12 +42 -11 -13 "
            "+11 +12 +41 -12 +42 -11 -13 +11 +12 +41 -12 +42 -11 -100");
}

TEST(Checkpoint, AnOperandOfWhatFollowsIsNoInput) {
  ProgramWriter program;
  program.at({"train.py:4 step"}).ask(100);
  for (const int line : {11, 12, 13}) program.at(layer_line(line)).ask(static_cast<Bytes>(line));
  program.at({"train.py:6 step"}).ask(30).free(100).ask(31);
  program.backward().ask(40).free(30).free(31).free(13).ask(41).free(12).ask(42).free(11);
  EXPECT_EQ(told_of(program.recording()),
            "+100 +11 +12 +13 -11 -12 +30 -100 +31 +40 -30 -31 -13 +11 +12 +41 -12 +42 -11");
}

TEST(Checkpoint, AnOperationIsComputedAgainAsAWhole) {
  ProgramWriter program;
  program.at(layer_line(11)).ask(11).at(layer_line(12)).ask(12).ask(50).free(50);
  program.at(layer_line(13)).ask(13).at({"train.py:6 step"}).ask(30);
  program.backward().ask(40).free(30).free(13).ask(41).free(12).ask(42).free(11);
  EXPECT_EQ(told_of(program.recording()),
            "+11 +12 +50 -50 +13 -11 -12 +30 +40 -30 -13 +11 +12 +50 -50 +41 -12 +42 -11");
}

TEST(Checkpoint, WhatWeightsAreAppliedToIsComputedAgain) {
  ProgramWriter program;
  program.at(layer_line(11)).ask(11).at(layer_line(12)).ask(50).free(50);
  program.at({"torch/nn/modules/linear.py:134 forward", "models.py:13 forward", "train.py:5 step"});
  program.ask(13).at({"train.py:6 step"}).ask(30);
  program.backward().ask(40).free(30).free(13).ask(42).free(11);
  EXPECT_EQ(told_of(program.recording()),
            "+11 +50 -50 +13 -11 +30 +40 -30 -13 +11 +50 -50 +42 -11");
}

TEST(Checkpoint, WhatIsReturnedBesideTheOutputMayBeKept) {
  EXPECT_EQ(told_of(two_layers().recording(), "", {.returns_more = true}),
            "+100 +11 +12 +13 +21 +22 +23 +30 -11 -12 -21 -22 "
            "+40 -30 -23 +21 +22 +41 -22 -40 +42 -21 -41 -13 "
            "+11 +12 +43 -12 -42 +44 -11 -43 -100");
}

TEST(Checkpoint, TheFirstInputTellsWhatAConsumerFrees) {
  // A hand-written norm frees its input late, and asks for no parameter's gradient last.
  const auto program_of = [](const std::string& first) {
    ProgramWriter program;
    program.at({first, "train.py:4 step"}).ask(13);
    for (int layer = 0; layer < 3; ++layer) {
      for (const int line : {11, 12, 13})
        program.at(layer_line(line)).ask(static_cast<Bytes>(line));
    }
    program.at({"train.py:6 step"}).ask(30);
    program.backward().ask(40).free(30).ask(50).free_latest(13).free(50);
    for (int layer = 0; layer < 3; ++layer) {
      program.ask(41).free_latest(12).ask(42).free_latest(11).free(41).ask(51).free_latest(13);
      program.free(51).free(42);
    }
    return told_of(program.recording());
  };
  const std::string own = program_of("torch/nn/functional.py:9 relu");
  const std::string consumers = program_of("torch/nn/functional.py:9 embedding");
  EXPECT_GT(own.size(), consumers.size()) << own << '\n' << consumers;
}

/// The backward frees the layer's output after a request for a gradient: as that of an activation
/// function does of its own, or where it asks for one of `weights` too as a consumer does.
Recording saved_output(const std::vector<std::string>& head, std::optional<Bytes> weights = {}) {
  ProgramWriter program = one_layer(head);
  program.ask(40).free(30).ask(41);
  if (weights) program.ask(*weights);
  program.free(13).free(40).ask(42).free(12).free(41).ask(43).free(11);
  return program.recording();
}

TEST(Checkpoint, AnOutputThatItsOwnBackwardNeedsIsComputedAgain) {
  const Recording recording = saved_output({"train.py:6 step"});
  const Checkpointed kept = made(recording);
  EXPECT_TRUE(kept.open);
  EXPECT_EQ(told(kept.written.trace),
            "+100 +11 +12 +13 -11 -12 +30 +40 -30 -13 +11 +12 +13 +41 -13 -40 +42 -12 -41 +43 -11");
  EXPECT_EQ(told_of(recording, "", {.keeps_outputs = false}),
            "+100 +11 +12 +13 -11 -12 +30 -13 +40 -30 +11 +12 +13 +41 -13 -40 +42 -12 -41 +43 -11");
}

TEST(Checkpoint, AnOutputThatItsConsumerFreesWithAParametersGradientIsNot) {
  EXPECT_EQ(told_of(saved_output({"train.py:6 step"}, 77)),
            "+100 +11 +12 +13 -11 -12 +30 +40 -30 +41 +77 -13 -40 +11 +12 +42 -12 -41 +43 -11");
}

TEST(Checkpoint, WhatNeedsNoInputDoesNotKeepIt) {
  const Checkpointed dropped =
      made(saved_output({"torch/nn/functional.py:9 dropout", "train.py:6 step"}));
  EXPECT_FALSE(dropped.open);
  EXPECT_EQ(told(dropped.written.trace),
            "+100 +11 +12 +13 -11 -12 +30 -13 +40 -30 +11 +12 +13 +41 -13 -40 +42 -12 -41 +43 -11");
}

TEST(Checkpoint, AProgramThatDiedInItsForwardHasNothingComputedAgain) {
  ProgramWriter program;
  program.at({"train.py:4 step"}).ask(100);
  for (const int line : {11, 12, 13}) program.at(layer_line(line)).ask(static_cast<Bytes>(line));
  const Recording recording = program.at(layer_line(11)).ask(21).die(22).recording();
  const Checkpointed died = made(recording);
  EXPECT_EQ(told(died.written.trace), "+100 +11 +12 +13 -11 -12 +21 x22");
  EXPECT_EQ(died.facts.recomputed_requests, 0u);
}

TEST(Checkpoint, HowBlocksDieIsAGuess) {
  const Recording recording = two_layers().recording();
  EXPECT_TRUE(told_of(recording, "", {.deaths = Deaths::at_once})
                  .starts_with("+100 +11 -11 +12 -12 +13 +21 -21 +22 -22 +23"));
  EXPECT_TRUE(told_of(recording, "", {.deaths = Deaths::at_the_end})
                  .starts_with("+100 +11 +12 +13 -11 -12 +21 +22 +23 -21 -22"));
}

TEST(Checkpoint, EachStepHasItsOwnBackward) {
  ProgramWriter program;
  for (const Bytes step : {0, 100}) {
    for (const Bytes line : {11, 12, 13}) {
      program.at(layer_line(static_cast<int>(line))).ask(step + line);
    }
    program.at({"train.py:6 step"}).ask(step + 30).backward().ask(step + 40);
    program.free(step + 30).free(step + 13).ask(step + 41).free(step + 12);
    program.ask(step + 42).free(step + 11);
  }
  EXPECT_EQ(told_of(program.recording()),
            "+11 +12 +13 -11 -12 +30 +40 -30 -13 +11 +12 +41 -12 +42 -11 "
            "+111 +112 +113 -111 -112 +130 +140 -130 -113 +111 +112 +141 -112 +142 -111");
}

std::string refusal(const Recording& recording, const std::string& selector) {
  const Edit edit = parse_edit("checkpoint:" + selector);
  try {
    checkpointed(recording, recording.traces.front(), edit, {});
  } catch (const UsageError& error) {
    return error.what();
  }
  return "made";
}

TEST(Checkpoint, CodeThatNeverRanIsRefused) {
  EXPECT_EQ(refusal(two_layers().recording(), "function=attn"),
            "--edit checkpoint:function=attn: no stack of this recording has that code");
}

TEST(Checkpoint, CodeThatSavesNothingIsRefused) {
  ProgramWriter program;
  program.at(layer_line(11)).ask(1).free(1);
  program.at(layer_line(12)).ask(2).free(2);
  EXPECT_EQ(refusal(program.recording(), "function=forward"),
            "--edit checkpoint:function=forward: nothing that this code requests is freed by a "
            "backward pass");
}

}  // namespace
}  // namespace memreplay

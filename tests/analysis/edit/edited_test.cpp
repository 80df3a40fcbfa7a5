#include <gtest/gtest.h>

#include "analysis/edit/edit.hpp"
#include "analysis/edit/programs.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

MadeRecordings made(const Recording& recording, const std::vector<std::string>& texts) {
  const Subject subject(recording, recording.traces.front());
  std::vector<Edit> edits;
  for (const std::string& text : texts) edits.push_back(parse_edit(text));
  return edited(subject, edits);
}

Recording three_blocks() {
  return ProgramWriter().ask(80).ask(5).free(80).ask(20).free(5).free(20).recording();
}

TEST(Edited, EditsAreMadeOneAfterTheOther) {
  const MadeRecordings both = made(three_blocks(), {"scale:size>=80,factor=2", "drop:size>=100"});
  EXPECT_EQ(told(both.likeliest.trace()), "+5 +20 -5 -20");
  ASSERT_EQ(both.edits.size(), 2u);
  EXPECT_EQ(both.edits[0].edit, "scale:size>=80,factor=2");
  EXPECT_EQ(both.edits[0].bytes, 80u);
  EXPECT_EQ(both.edits[1].bytes, 160u);
  EXPECT_THROW(made(three_blocks(), {"drop:size>=100", "scale:size>=80,factor=2"}), UsageError);
}

TEST(Edited, BlocksThatAreNamedLeaveNothingOpen) {
  const MadeRecordings scaled = made(three_blocks(), {"scale:size>=80,factor=2"});
  EXPECT_TRUE(scaled.others.empty());
  EXPECT_EQ(scaled.likeliest.origin->why_inexact, "");
}

TEST(Edited, WhatIsOpenOfARecordingStaysOpen) {
  const Recording layers = two_layers().recording();
  MadeRecordings guessed = made(layers, {"scale:size>=10,factor=2"});
  Origin origin = *guessed.likeliest.origin;
  origin.why_inexact = "it is a guess";
  guessed.likeliest.origin = std::make_shared<const Origin>(origin);
  const auto why = [&](const char* edit) {
    return edited(guessed, std::vector{parse_edit(edit)}).likeliest.origin->why_inexact;
  };
  EXPECT_EQ(why("scale:size>=10,factor=2"), "it is a guess");
  EXPECT_EQ(why("checkpoint:function=forward").find("it is a guess; the program was edited"), 0u);
}

TEST(Edited, WhenBlocksWouldDieIsGuessedInSeveralWays) {
  const MadeRecordings layers = made(two_layers().recording(), {"checkpoint:function=forward"});
  ASSERT_EQ(layers.others.size(), 4u);
  EXPECT_NE(layers.likeliest.origin->why_inexact, "");
  EXPECT_TRUE(told(layers.others[0].trace()).starts_with("+100 +11 +12 -11 +13 -12")) << "rebound";
  EXPECT_TRUE(told(layers.others[1].trace()).starts_with("+100 +11 -11 +12 -12")) << "at once";
  EXPECT_TRUE(told(layers.others[2].trace()).starts_with("+100 +11 +12 +13 -11")) << "at the end";
}

TEST(Edited, WhetherAnOutputIsKeptDoublesTheWays) {
  ProgramWriter program;
  for (const int line : {11, 12, 13}) program.at(layer_line(line)).ask(static_cast<Bytes>(line));
  program.at({"train.py:6 step"}).ask(30).backward().ask(40).free(30);
  program.ask(41).free(13).ask(42).free(12).free(41).ask(43).free(11);
  EXPECT_EQ(made(program.recording(), {"checkpoint:function=forward"}).others.size(), 8u);
}

TEST(Edited, AnEditMayFollowACheckpoint) {
  const MadeRecordings both =
      made(two_layers().recording(), {"checkpoint:function=forward", "scale:saved,factor=2"});
  ASSERT_EQ(both.others.size(), 4u);
  EXPECT_EQ(both.edits.size(), 2u);
  for (const MadeRecording& other : both.others) {
    EXPECT_EQ(other.trace().size(), both.likeliest.trace().size());
  }
}

}  // namespace
}  // namespace memreplay

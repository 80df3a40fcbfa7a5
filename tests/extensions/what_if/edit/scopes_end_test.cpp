#include <gtest/gtest.h>

#include "extensions/what_if/edit/block_edits.hpp"
#include "support/programs.hpp"

namespace memreplay {
namespace {

/// What is freed where, by sizes: the program with those deaths. What is not saved is freed
/// already.
std::string with_deaths(const Recording& recording, Deaths how = Deaths::by_scope,
                        std::optional<std::uint64_t> end = {}) {
  const Trace& trace = recording.traces.front();
  const BlockLives lives = lives_of(trace);
  const std::vector<std::uint64_t> allocations = allocations_of(trace);
  const std::vector<std::uint32_t> operations = operations_of(trace, lives, allocations);
  std::vector<std::uint32_t> blocks;
  std::vector<bool> saved;
  for (const std::uint64_t event : allocations) {
    blocks.push_back(lives.block_of[event]);
    saved.push_back(lives.blocks[blocks.back()].freed == BlockLife::kNever);
  }
  Rewrite rewrite(trace, lives);
  for (const Death& death :
       deaths_of(recording, lives, {blocks, operations}, saved, end.value_or(trace.size()), how)) {
    rewrite.free_at(death.block, death.spot);
  }
  return told(rewrite.write().trace);
}

/// The frame of a program's main function.
std::string main_line(int line) { return fmt::format("main.py:{} main", line); }

/// A function of three lines, and two lines after the call.
Recording lines_of_a_function() {
  ProgramWriter program;
  program.at({"f.py:1 f", main_line(8)}).ask(1);
  program.at({"f.py:2 f", main_line(8)}).ask(2);
  program.at({"f.py:3 f", main_line(8)}).ask(3);
  program.at({main_line(9)}).ask(4);
  program.at({main_line(10)}).ask(5);
  return program.recording();
}

TEST(ScopesEnd, ALocalVariableDiesWhenItsFunctionReturns) {
  // 3 is returned: a variable of main.
  EXPECT_EQ(with_deaths(lines_of_a_function()), "+1 +2 +3 -1 -2 +4 +5 -5 -3 -4");
}

TEST(ScopesEnd, AVariableThatIsReboundDiesBehindTheNextLine) {
  EXPECT_EQ(with_deaths(lines_of_a_function(), Deaths::rebound), "+1 +2 -1 +3 -2 +4 -3 +5 -5 -4");
}

TEST(ScopesEnd, WhatABackwardFreesTogetherWasSavedTogether) {
  ProgramWriter program;
  // 1 is given to the operation that asks for 3, in spite of what the lines say.
  program.at({"f.py:1 f", main_line(8)}).ask(1);
  program.at({main_line(8)}).ask(2);
  program.at({main_line(9)}).ask(3);
  program.at({main_line(10)}).ask(4);
  program.backward().ask(10).free(1).free(3).ask(11).free(2).free(4);
  const Recording recording = program.recording();
  const Trace& trace = recording.traces.front();
  const BlockLives lives = lives_of(trace);
  const std::vector<std::uint32_t> blocks = {0, 1, 2, 3};
  const auto deaths = deaths_of(recording, lives, {blocks, blocks}, std::vector<bool>(4, true), 4,
                                Deaths::by_scope);
  EXPECT_EQ(deaths.at(0).block, 0u);
  EXPECT_EQ(deaths.at(0).spot.before, 3u) << "behind the request for 3, not that for 2";
}

TEST(ScopesEnd, AnArgumentDiesWhenWhatItWasGivenToReturns) {
  ProgramWriter program;
  program.at({main_line(8)}).ask(1);
  program.at({"f.py:1 f", main_line(8)}).ask(2);
  program.at({"f.py:2 f", main_line(8)}).ask(3);
  program.at({main_line(8)}).ask(4);
  program.at({main_line(9)}).ask(5);
  EXPECT_EQ(with_deaths(program.recording()), "+1 +2 +3 -1 -2 +4 -3 +5 -5 -4");
}

TEST(ScopesEnd, AnOperandDiesBehindTheNextOperation) {
  ProgramWriter program;
  program.at({"f.py:1 f", main_line(8)}).ask(1);
  program.at({main_line(8)}).ask(2);
  program.at({main_line(9)}).ask(3);
  EXPECT_EQ(with_deaths(program.recording()), "+1 +2 -1 +3 -3 -2");
}

TEST(ScopesEnd, AnOperandDiesBehindTheWorkspacesOfTheNextOperation) {
  ProgramWriter program;
  program.at({"f.py:1 f", main_line(8)}).ask(1);
  program.at({main_line(8)}).ask(2).ask(9).free(9);
  program.at({main_line(9)}).ask(3);
  EXPECT_EQ(with_deaths(program.recording()), "+1 +2 +9 -9 -1 +3 -3 -2");
}

TEST(ScopesEnd, WhatACallOfTheSameLineTakesDiesWithThatCall) {
  ProgramWriter program;
  program.at({"torch.py:1 norm", main_line(8)}).ask(1);
  program.at({"f.py:1 f", main_line(8)}).ask(2);
  program.at({"f.py:2 f", main_line(8)}).ask(3);
  program.at({main_line(8)}).ask(4);
  EXPECT_EQ(with_deaths(program.recording()), "+1 +2 +3 -1 -2 +4 -3 -4");
}

TEST(ScopesEnd, InnerActivationsEndFirst) {
  ProgramWriter program;
  program.at({"n.py:1 norm", main_line(8)}).ask(1);
  program.at({"act.py:1 act", "f.py:1 f", main_line(8)}).ask(2);
  program.at({"linear.py:1 linear", "f.py:1 f", main_line(8)}).ask(3);
  program.at({main_line(8)}).ask(4);
  EXPECT_EQ(with_deaths(program.recording()), "+1 +2 +3 -2 -1 +4 -3 -4");
}

TEST(ScopesEnd, AnActivationEndsWhereItsCodeBeginsAgain) {
  ProgramWriter program;
  for (const Bytes call : {10, 20}) {
    program.at({"f.py:1 f", main_line(8)}).ask(call + 1);
    program.at({"f.py:2 f", main_line(8)}).ask(call + 2);
    program.at({"f.py:3 f", main_line(8)}).ask(call + 3);
  }
  const std::string told = with_deaths(program.recording());
  EXPECT_TRUE(told.starts_with("+11 +12 +13 -11 -12 +21")) << told;
}

TEST(ScopesEnd, WhatAnOperationKeepsBesideItsValueDiesWithIt) {
  ProgramWriter program;
  program.at({"f.py:1 f", main_line(8)}).ask(2).ask(9).ask(1);
  program.at({"f.py:2 f", main_line(8)}).ask(3);
  EXPECT_EQ(with_deaths(program.recording()), "+2 +9 +1 -2 -1 +3 -3 -9");
}

TEST(ScopesEnd, OfEqualBlocksOfAnOperationTheLatestIsItsValue) {
  RecordingWriter writer;
  const auto first = writer.stack({"f.py:1 f", main_line(8)});
  writer.alloc(0, 4, first).alloc(1, 4, first);
  writer.alloc(2, 3, writer.stack({"f.py:2 f", main_line(8)}));
  const Recording recording = writer.recording();
  const BlockLives lives = lives_of(recording.traces.front());
  const std::vector<std::uint32_t> blocks = {0, 1, 2};
  const std::vector<std::uint32_t> operations = {0, 0, 1};
  const auto deaths = deaths_of(recording, lives, {blocks, operations}, std::vector<bool>(3, true),
                                3, Deaths::by_scope);
  ASSERT_EQ(deaths.size(), 3u);
  EXPECT_EQ(deaths[0].spot.before, 2u);
  EXPECT_EQ(deaths[1].spot.before, 3u);
}

Recording three_operations() {
  ProgramWriter program;
  program.at({main_line(8)}).ask(1);
  program.at({main_line(9)}).ask(2);
  program.at({main_line(10)}).ask(3);
  program.at({main_line(11)}).ask(4);
  return program.recording();
}

TEST(ScopesEnd, AtOnceMeansBehindTheOperationThatAsked) {
  EXPECT_EQ(with_deaths(three_operations(), Deaths::at_once), "+1 -1 +2 -2 +3 -3 +4 -4");
}

TEST(ScopesEnd, AtTheEndMeansThatOfTheSegment) {
  EXPECT_EQ(with_deaths(three_operations(), Deaths::at_the_end), "+1 +2 +3 +4 -1 -2 -3 -4");
}

TEST(ScopesEnd, NoneDiesBehindTheEnd) {
  ProgramWriter program;
  program.at({"f.py:1 f", main_line(8)}).ask(1);
  program.at({"f.py:2 f", main_line(8)}).ask(2);
  const Recording recording = program.at({}).ask(3).free(3).recording();
  for (const Deaths how : {Deaths::by_scope, Deaths::at_the_end}) {
    const std::string told = with_deaths(recording, how, 2);
    EXPECT_EQ(told.find("-1 -2 +3") != told.npos || told.find("-2 -1 +3") != told.npos, true)
        << told;
  }
}

TEST(ScopesEnd, WhatIsNotSavedDiesAsItDid) {
  ProgramWriter program;
  program.at({main_line(8)}).ask(1);
  program.at({main_line(9)}).ask(2).free(2);
  program.at({main_line(10)}).ask(3);
  EXPECT_EQ(with_deaths(program.recording(), Deaths::at_the_end), "+1 +2 -2 +3 -1 -3");
}

}  // namespace
}  // namespace memreplay

#include "program/lives.hpp"

#include <gtest/gtest.h>

#include "support/programs.hpp"

namespace memreplay {
namespace {

using Numbers = std::vector<std::uint32_t>;

Numbers operations(const Recording& recording) {
  const Trace& trace = recording.traces.front();
  return operations_of(trace, lives_of(trace), allocations_of(trace));
}

TEST(Lives, ABlockIsKnownByTheEventsOfItsLife) {
  const Recording recording =
      ProgramWriter().at({"a.py:1 f"}).ask(8).ask(4).request_free(8).complete_free(8).recording();
  const BlockLives lives = lives_of(recording.traces.front());
  ASSERT_EQ(lives.blocks.size(), 2u);
  EXPECT_EQ(lives.blocks[0].born, 0u);
  EXPECT_EQ(lives.blocks[0].freed, 2u);
  EXPECT_EQ(lives.blocks[0].completed, 3u);
  EXPECT_EQ(lives.blocks[0].size, 8u);
  EXPECT_NE(lives.blocks[0].stack, 0u);
  EXPECT_EQ(lives.blocks[1].freed, BlockLife::kNever);
  EXPECT_EQ(lives.block_of, (Numbers{0, 1, 0, 0}));
}

TEST(Lives, ASlotIsOfTheBlockThatWasBornInItLast) {
  const Recording recording = RecordingWriter().alloc(0, 8).free(0).alloc(0, 4).free(0).recording();
  const BlockLives lives = lives_of(recording.traces.front());
  EXPECT_EQ(lives.block_of, (Numbers{0, 0, 1, 1}));
  EXPECT_EQ(lives.blocks[0].freed, 1u);
  EXPECT_EQ(lives.blocks[1].freed, 3u);
}

TEST(Lives, BlocksFromBeforeTheFirstEventComeFirst) {
  Recording recording = RecordingWriter().alloc(0, 8).free(0).recording();
  Trace& trace = recording.traces.front();
  start_with(trace, 1, 5);
  trace.ops[1] = Op::free;
  trace.slots[1] = 1;
  trace.sizes[1] = 5;
  const BlockLives lives = lives_of(trace);
  ASSERT_EQ(lives.blocks.size(), 2u);
  EXPECT_TRUE(lives.blocks[0].existed_before());
  EXPECT_EQ(lives.blocks[0].size, 5u);
  EXPECT_EQ(lives.blocks[0].freed, 1u);
  EXPECT_FALSE(lives.blocks[1].existed_before());
  EXPECT_EQ(lives.block_of, (Numbers{1, 0}));
}

TEST(Lives, ABlockIsAliveUntilItsFreeIsRequested) {
  const BlockLife life{.born = 2, .freed = 5, .completed = 7};
  EXPECT_TRUE(life.alive_at(5));
  EXPECT_FALSE(life.alive_at(6));
}

TEST(Operations, ThoseOfOneStackAreOneUntilSomethingIsFreed) {
  ProgramWriter program;
  program.at({"a.py:1 f"}).ask(1).ask(2).free(1).ask(3);
  program.at({"a.py:2 f"}).ask(4);
  EXPECT_EQ(operations(program.recording()), (Numbers{0, 0, 1, 2}));
}

TEST(Operations, AWorkspaceBelongsToTheOneBeforeIt) {
  ProgramWriter program;
  program.at({"a.py:1 f"}).ask(1).ask(2).free(2).ask(3).free(3).ask(4);
  EXPECT_EQ(operations(program.recording()), (Numbers{0, 0, 0, 1}));
}

}  // namespace
}  // namespace memreplay

#include "extensions/what_if/edit/block_edits.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "support/programs.hpp"
#include "trace/gate.hpp"

namespace memreplay {
namespace {

EditedBlocks changed(const Recording& recording, const std::string& text) {
  EditedBlocks blocks = with_blocks_changed(recording, recording.traces.front(), parse_edit(text));
  EXPECT_FALSE(fault_in(blocks.written.trace));
  return blocks;
}

std::string told_of(const Recording& recording, const std::string& text) {
  return told(changed(recording, text).written.trace);
}

Recording three_blocks() {
  return ProgramWriter().ask(80).ask(5).free(80).ask(20).free(5).free(20).recording();
}

TEST(BlockEdits, SizesAreScaledAndRounded) {
  EXPECT_EQ(told_of(three_blocks(), "scale:size>=0,factor=1.5"), "+120 +8 -120 +30 -8 -30");
  EXPECT_EQ(told_of(three_blocks(), "scale:size<10,factor=0.01"), "+80 +1 -80 +20 -1 -20")
      << "never to nothing";
  const EditFacts facts = changed(three_blocks(), "scale:size>=20,factor=2").facts;
  EXPECT_EQ(facts.edit, "scale:size>=20,factor=2");
  EXPECT_EQ(facts.blocks, 2u);
  EXPECT_EQ(facts.bytes, 100u);
}

TEST(BlockEdits, ElementsOfAnotherWidthAreRoundedUp) {
  EXPECT_EQ(told_of(three_blocks(), "dtype:size>=0,to=bf16"), "+40 +3 -40 +10 -3 -10");
  EXPECT_EQ(told_of(three_blocks(), "dtype:size<10,from=bf16,to=fp64"), "+80 +20 -80 +20 -20 -20");
}

TEST(BlockEdits, DroppedBlocksWereNeverAskedFor) {
  EXPECT_EQ(told_of(three_blocks(), "drop:size<50"), "+80 -80");
}

TEST(BlockEdits, LivesAreShortenedToSoManyEvents) {
  EXPECT_EQ(told_of(three_blocks(), "shorten:size>=0,events=1"), "+80 +5 -80 -5 +20 -20");
  EXPECT_EQ(told_of(three_blocks(), "shorten:size>=0,events=9"), told(three_blocks().traces[0]));
  const Recording kept = ProgramWriter().ask(8).ask(4).ask(2).recording();
  EXPECT_EQ(told_of(kept, "shorten:size>=8,events=1"), "+8 +4 -8 +2");
}

TEST(BlockEdits, NothingSelectedIsRefused) {
  try {
    changed(three_blocks(), "drop:size>=1MiB");
    FAIL() << "dropped";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--edit drop:size>=1MiB: no block of this recording is selected");
  }
}

TEST(BlockEdits, BlocksFromBeforeTheRecordingCannotBeLeftOut) {
  Recording recording = three_blocks();
  start_with(recording.traces.front(), 9, 700);
  try {
    changed(recording, "drop:size>=700");
    FAIL() << "dropped";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "--edit drop:size>=700: it selects blocks from before the recording, which "
                 "cannot be left out");
  }
  EXPECT_EQ(told_of(recording, "shorten:size>=700,events=1"), "+80 -700 +5 -80 +20 -5 -20");
}

TEST(BlockEdits, BlocksFromBeforeTheRecordingGrowAsFarAsTheirMemoryGoes) {
  Recording recording = RecordingWriter().alloc(0, 8).recording();
  Trace& trace = recording.traces.front();
  start_with(trace, 1, 700);
  const Trace scaled = changed(recording, "scale:size>=700,factor=2").written.trace;
  EXPECT_EQ(scaled.start.segments[0].blocks[0].requested, 1400u);
  try {
    changed(recording, "scale:size>=700,factor=3000");
    FAIL() << "scaled";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "--edit scale:size>=700,factor=3000: it enlarges blocks from before the "
                 "recording, which cannot be moved");
  }
}

}  // namespace
}  // namespace memreplay

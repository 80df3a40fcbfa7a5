#include "extensions/minimise/story.hpp"

#include <gtest/gtest.h>

#include "replay/program.hpp"
#include "support/recordings.hpp"

namespace memreplay {
namespace {

EditableTrace::Block block(Bytes size, EditableTrace::Place born,
                           EditableTrace::Place freed = EditableTrace::kNever) {
  return {.size = size, .born = born, .freed = freed, .completed = freed};
}

Trace of_one_lane() {
  Trace trace;
  trace.lanes = {{}};
  return trace;
}

TEST(Edits, TwoBlocksBecomeOneOfBothSizes) {
  EditableTrace::Block into = block(100, 0, 4);
  ASSERT_TRUE(join(into, block(200, 2, 6), {.born_first = true, .freed_last = true}));
  EXPECT_EQ(into.size, 300u);
  EXPECT_EQ(into.born, 0u);
  EXPECT_EQ(into.freed, 6u);
  EXPECT_EQ(into.completed, 6u);
}

TEST(Edits, WhatWouldEndBeforeItBeginsIsNotJoined) {
  EditableTrace::Block into = block(100, 0, 1);
  EXPECT_FALSE(join(into, block(200, 2, 6), {.born_first = false, .freed_last = false}));
  EXPECT_EQ(into.size, 100u);
}

TEST(Edits, TheFirstBlockGrowsAndOthersStandBeforeItAndBeforeTheLast) {
  EditableTrace story{.lanes = {{}}, .blocks = {block(100, 0), block(9, 1)}, .places = 2};
  story = filled(std::move(story), {.growth = 50, .blocks = {64}, .late = {7, 8}});
  const Trace trace = trace_of(story, of_one_lane());
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{64, 150, 7, 8, 9}));
}

TEST(Edits, AFirstBlockThatIsFreedDoesNotGrow) {
  EditableTrace story{.lanes = {{}}, .blocks = {block(100, 0, 1), block(9, 2)}, .places = 3};
  story = filled(std::move(story), {.growth = 50});
  const Trace trace = trace_of(story, of_one_lane());
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::allocate, Op::allocate, Op::free, Op::allocate}));
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{50, 100, 100, 9}));
}

Trace retold(const Recording& recording, const ProgramOptions& options = {}) {
  const Subject subject(recording, recording.traces[0]);
  return trace_of(story_of(program_of(subject, options)), subject.trace());
}

TEST(EditableTrace, TellsAllocationsFreesAndMarksInTheirOrder) {
  const Trace trace = retold(RecordingWriter()
                                 .alloc(0, 100)
                                 .add(Op::marker, kNoSlot, 0)
                                 .alloc(1, 200)
                                 .free(0)
                                 .add(Op::empty_cache, kNoSlot, 0)
                                 .recording());
  EXPECT_EQ(trace.ops,
            (std::vector<Op>{Op::allocate, Op::marker, Op::allocate, Op::free, Op::empty_cache}));
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{100, 0, 200, 100, 0}));
  EXPECT_EQ(trace.slots, (std::vector<Slot>{0, kNoSlot, 1, 0, kNoSlot}));
}

TEST(EditableTrace, DriverEventsAreLeftOutAndARefusedRequestIsServedAndFreed) {
  Recording recording = RecordingWriter()
                            .add(Op::segment_alloc, kNoSlot, 2000)
                            .add(Op::oom, kNoSlot, 900)
                            .recording();
  recording.traces[0].addresses = {4096, 0};
  const Trace trace = retold(recording);
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::allocate, Op::free}));
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{900, 900}));
}

TEST(EditableTrace, AFreeInTwoStepsStaysOneUnlessBothAreNeighbours) {
  RecordingWriter writer;
  writer.alloc(0, 100).alloc(1, 100);
  writer.add(Op::free_requested, 0, 100).add(Op::free_completed, 0, 100);
  writer.add(Op::free_requested, 1, 100).alloc(0, 50).add(Op::free_completed, 1, 100);
  EXPECT_EQ(retold(writer.recording()).ops,
            (std::vector<Op>{Op::allocate, Op::allocate, Op::free, Op::free_requested, Op::allocate,
                             Op::free_completed}));
}

TEST(EditableTrace, AFreeThatIsNeverCompletedIsNone) {
  const Trace trace =
      retold(RecordingWriter().alloc(0, 100).add(Op::free_requested, 0, 100).recording());
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::allocate}));
}

TEST(EditableTrace, WhatItCannotTellIsCounted) {
  const Recording recording =
      RecordingWriter().alloc(0, 100).add(Op::free_requested, 0, 100).alloc(1, 100).recording();
  const Subject subject(recording, recording.traces[0]);
  const EditableTrace story = story_of(program_of(subject));
  EXPECT_EQ(story.unfinished_frees, 1u);
  EXPECT_EQ(story.pool_ends, 0u);
}

TEST(EditableTrace, BlocksFromBeforeTheRecordingAreAllocatedFirst) {
  Recording recording = RecordingWriter().alloc(0, 100).add(Op::free, 1, 700).recording();
  Trace& trace = recording.traces[0];
  trace.slot_count = 2;
  trace.start.segments = {
      {.size = 1024,
       .blocks = {{.size = 1024, .requested = 700, .state = BlockState::allocated, .slot = 1}}}};
  const Trace told = retold(recording);
  EXPECT_EQ(told.ops, (std::vector<Op>{Op::allocate, Op::allocate, Op::free}));
  EXPECT_EQ(told.sizes, (std::vector<Bytes>{700, 100, 700}));
  EXPECT_EQ(told.slots, (std::vector<Slot>{0, 1, 0}));
  const Trace cold = retold(recording, {.start = StartMode::cold});
  EXPECT_EQ(cold.ops, (std::vector<Op>{Op::allocate}));
}

TEST(EditableTrace, CompactedItHasNoGapsAndMakesTheSameTrace) {
  const Recording recording =
      RecordingWriter().alloc(0, 100).alloc(1, 200).free(0).alloc(0, 300).free(1).recording();
  const Subject subject(recording, recording.traces[0]);
  EditableTrace story = story_of(program_of(subject));
  story.blocks.erase(story.blocks.begin());
  const Trace before = trace_of(story, subject.trace());
  compact(story);
  EXPECT_EQ(story.places, 3u);
  EXPECT_EQ(trace_of(story, subject.trace()), before);
}

}  // namespace

}  // namespace memreplay

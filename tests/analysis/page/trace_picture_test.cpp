#include "analysis/page/trace_picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/recordings.hpp"
#include "columns_read.hpp"

namespace memreplay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TracePicture picture_of(const Recording& recording, EventWindow window) {
  const Subject subject(recording, recording.traces[0]);
  return picture_of(subject, window);
}

TEST(TracePicture, NumbersBlocksByTheirRequestsAndSaysHowLongAgoAFreedOneCame) {
  RecordingWriter writer;
  writer.alloc(0, 100).alloc(1, 200).free(0).alloc(0, 300).free(0).free(1);
  const TracePicture picture = picture_of(writer.recording(), {0, 6});
  EXPECT_EQ(picture.blocks, 3u);
  EXPECT_THAT(numbers_of(picture.sizes), ElementsAre(100, 200, 300));
  EXPECT_THAT(numbers_of(picture.freed), ElementsAre(2, 1, 2));
  EXPECT_EQ(picture.ops.bytes().size(), 6u);
  EXPECT_THAT(picture.early, IsEmpty());
}

TEST(TracePicture, WhatLivesBeforeTheWindowIsThereWithItsBirth) {
  RecordingWriter writer;
  writer.alloc(0, 100).alloc(1, 200).free(0).alloc(0, 300).add(Op::free_requested, 1, 200);
  writer.add(Op::free_completed, 1, 200).free(0);
  const TracePicture picture = picture_of(writer.recording(), {5, 7});
  EXPECT_THAT(picture.early, ElementsAre(1, 0));
  EXPECT_THAT(steps_of(picture.born), ElementsAre(2, 4));
  EXPECT_EQ(picture.states.bytes(), std::string("\1\0", 2));
  EXPECT_THAT(numbers_of(picture.sizes), ElementsAre(200, 300));
  EXPECT_THAT(numbers_of(picture.freed), ElementsAre(2, 1));
}

TEST(TracePicture, BlocksFromBeforeTheTraceComeFirstFromLanesOfTheirOwn) {
  RecordingWriter writer;
  writer.alloc(1, 700);
  Recording recording = writer.recording();
  Trace& trace = recording.traces[0];
  trace.streams = {0, 7};
  trace.start.segments.push_back({.size = 1024, .stream = 1});
  trace.start.segments[0].blocks = {
      {.size = 1024, .requested = 600, .state = BlockState::allocated, .slot = 0}};
  const TracePicture picture = picture_of(recording, {0, 1});
  EXPECT_THAT(steps_of(picture.born), ElementsAre(0));
  EXPECT_THAT(numbers_of(picture.sizes), ElementsAre(600, 700));
  const auto lanes = numbers_of(picture.lanes);
  EXPECT_EQ(picture.lane_names.at(lanes[0]).stream, 7u);
  EXPECT_EQ(picture.lane_names.at(lanes[1]).stream, 0u);
  const auto place = [&](std::size_t block) {
    return picture.places.at(picture.place_of_stack.at(numbers_of(picture.stacks).at(block)));
  };
  EXPECT_EQ(place(0), "(from before the recording)");
  EXPECT_EQ(place(1), "(no stack recorded)");
}

TEST(TracePicture, ATagIsThePlaceOfABlockWithoutAStack) {
  Recording recording = RecordingWriter().alloc(0, 100).alloc(1, 200).recording();
  recording.texts.push_back("weights");
  recording.traces[0].tags = {0, static_cast<std::uint32_t>(recording.texts.size() - 1)};
  const TracePicture picture = picture_of(recording, {0, 2});
  EXPECT_EQ(picture.places.at(picture.place_of_stack.at(numbers_of(picture.stacks).at(0))),
            "(no tag)");
  EXPECT_EQ(picture.places.at(picture.place_of_stack.at(numbers_of(picture.stacks).at(1))),
            "weights");
}

TEST(TracePicture, HoldsTheStacksOfItsBlocksOnly) {
  RecordingWriter writer;
  writer.stack({"other.py:1 unused"});
  const std::uint32_t used = writer.stack({"model.py:41 forward", "train.py:7 step"});
  writer.alloc(0, 100).alloc(1, 100, used);
  const TracePicture picture = picture_of(writer.recording(), {0, 2});
  EXPECT_THAT(numbers_of(picture.stacks), ElementsAre(0, 1));
  EXPECT_THAT(picture.frames, ElementsAre("model.py:41 forward", "train.py:7 step"));
  EXPECT_THAT(picture.stacks_shown, ElementsAre(IsEmpty(), ElementsAre(0, 1)));
  EXPECT_EQ(picture.places.at(picture.place_of_stack.at(1)), "model.py:41 forward");
}

TEST(TracePicture, SaysOfEveryFrameWhetherItServesAnyProgram) {
  RecordingWriter writer;
  writer.alloc(0, 100, writer.stack({"x.cpp:0 malloc", "model.py:41 forward"}));
  EXPECT_THAT(picture_of(writer.recording(), {0, 1}).noise, ElementsAre(true, false));
}

TEST(TracePicture, WhatConcernsNoBlockHasItsSizeAddressAndStack) {
  RecordingWriter writer;
  writer.alloc(0, 100)
      .add(Op::segment_alloc, kNoSlot, 2048)
      .add(Op::oom, kNoSlot, 700, writer.stack({"a.py:1 f"}));
  Recording recording = writer.recording();
  recording.traces[0].addresses = {4096, 8192, 0};
  const TracePicture picture = picture_of(recording, {0, 3});
  EXPECT_THAT(steps_of(picture.addresses), ElementsAre(4096));
  EXPECT_THAT(numbers_of(picture.other_sizes), ElementsAre(2048, 700));
  EXPECT_THAT(steps_of(picture.other_addresses), ElementsAre(8192, 0));
  EXPECT_THAT(numbers_of(picture.other_stacks), ElementsAre(0, 1));
}

TEST(TracePicture, WithoutRecordedAddressesThereIsNoColumnOfThem) {
  RecordingWriter writer;
  writer.alloc(0, 100);
  Recording recording = writer.recording();
  recording.traces[0].addresses.clear();
  EXPECT_TRUE(picture_of(recording, {0, 1}).addresses.bytes().empty());
}

TEST(TracePicture, CountsRequestsOfTheWholeTraceByPowersOfTwo) {
  RecordingWriter writer;
  writer.alloc(0, 512).alloc(1, 1023).alloc(2, 1024);
  const TracePicture picture = picture_of(writer.recording(), {2, 3});
  ASSERT_EQ(picture.request_classes.size(), 2u);
  EXPECT_EQ(picture.request_classes[0].from, 512u);
  EXPECT_EQ(picture.request_classes[0].requests, 2u);
  EXPECT_EQ(picture.request_classes[0].bytes, 1535u);
  EXPECT_EQ(picture.request_classes[1].from, 1024u);
}

TEST(WindowOfInterest, IsAllOfAShortTrace) {
  RecordingWriter writer;
  writer.alloc(0, 1).alloc(1, 1);
  const EventWindow window = window_of_interest(writer.recording().traces[0], 2);
  EXPECT_EQ(window.from, 0u);
  EXPECT_EQ(window.to, 2u);
}

TEST(WindowOfInterest, EndsATenthBehindThePeakOrTheFirstRefusal) {
  RecordingWriter writer;
  for (Slot slot = 0; slot < 30; ++slot) writer.alloc(slot, 1);
  for (Slot slot = 0; slot < 30; ++slot) writer.free(slot);
  Recording recording = writer.recording();
  const EventWindow peak = window_of_interest(recording.traces[0], 20);
  EXPECT_EQ(peak.from, 12u);
  EXPECT_EQ(peak.to, 32u);

  recording.traces[0].ops[24] = Op::oom;
  EXPECT_EQ(window_of_interest(recording.traces[0], 20).to, 27u);
}

}  // namespace
}  // namespace memreplay

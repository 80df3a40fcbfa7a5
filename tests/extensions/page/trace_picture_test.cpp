#include "extensions/page/trace_picture.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "columns_read.hpp"
#include "replay/trial.hpp"
#include "support/recordings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

PlacedBlocks placed(const Recording& recording, const Trace& trace, const char* strategy,
                    std::optional<Bytes> capacity = {}, EventWindow window = {0, UINT64_MAX}) {
  const Subject subject(recording, trace);
  window.to = std::min<std::uint64_t>(window.to, trace.size());
  const TracePicture picture = picture_of(subject, window);
  Trial trial(Contender(subject, parse_strategy(strategy)),
              {.device = {.capacity = capacity, .granularity = 512}, .log_device = true});
  PlaceRecorder recorder(subject.trace(), picture, trial.log());
  trial.run(&recorder);
  return recorder.finish();
}

PlacedBlocks placed(RecordingWriter& writer, const char* strategy,
                    std::optional<Bytes> capacity = {}, EventWindow window = {0, UINT64_MAX}) {
  const Recording recording = writer.recording();
  return placed(recording, recording.traces[0], strategy, capacity, window);
}

/// Distances from the base, by block; unset for one without a place.
std::vector<std::optional<Bytes>> offsets(const PlacedBlocks& blocks) {
  std::vector<std::optional<Bytes>> found;
  for (const std::uint64_t place : numbers_of(blocks.places)) {
    found.push_back(place == 0 ? std::nullopt : std::optional((place - 1) * blocks.unit));
  }
  return found;
}

TEST(PlacedBlocks, EveryBlockHasItsAddressInUnitsAndItsRounding) {
  RecordingWriter writer;
  writer.alloc(0, 1024).alloc(1, 600).free(0).alloc(0, 512);
  const PlacedBlocks blocks = placed(writer, "torch");
  EXPECT_EQ(blocks.base, Address{1} << 44);
  EXPECT_EQ(blocks.unit, 1024u);
  EXPECT_THAT(offsets(blocks), ElementsAre(0, 1024, 0));
  EXPECT_THAT(signed_of(blocks.charges), ElementsAre(0, 424, 0));
  EXPECT_THAT(numbers_of(blocks.region_bytes), ElementsAre(2 * kMiB));
  EXPECT_THAT(steps_of(blocks.reserved_events), ElementsAre(0, 0));
  EXPECT_THAT(steps_of(blocks.reserved_bytes), ElementsAre(0, 2 * kMiB));
}

TEST(PlacedBlocks, ARegionHasTheLaneOfTheRequestForIt) {
  RecordingWriter writer;
  writer.alloc(0, 1024).alloc(1, 4 * kMiB);
  Recording recording = writer.recording();
  Trace& trace = recording.traces[0];
  trace.streams = {0, 7};
  trace.lanes.push_back({.stream = 1});
  trace.lane_of[1] = 1;
  const PlacedBlocks blocks = placed(recording, trace, "torch");
  EXPECT_EQ(blocks.early_regions, 0u);
  EXPECT_THAT(numbers_of(blocks.region_lanes), ElementsAre(1, 2));
}

TEST(PlacedBlocks, ABlockThatWasRefusedHasNoPlace) {
  RecordingWriter writer;
  writer.alloc(0, 1024).alloc(1, 4 * kMiB).alloc(2, 512);
  const PlacedBlocks blocks = placed(writer, "torch", 3 * kMiB);
  EXPECT_THAT(offsets(blocks), ElementsAre(0, std::nullopt, 1024));
  EXPECT_THAT(signed_of(blocks.charges), ElementsAre(0, 0));
}

TEST(PlacedBlocks, BeforeTheWindowOnlyWhatLivesOnIsKept) {
  RecordingWriter writer;
  writer.alloc(0, 1024).alloc(1, 512).free(0).alloc(0, 2048);
  const PlacedBlocks blocks = placed(writer, "torch", {}, {3, 4});
  EXPECT_THAT(offsets(blocks), ElementsAre(1024, 1536));
}

TEST(PlacedBlocks, ABlockFromBeforeTheTraceHasThePlaceThatItWasGiven) {
  RecordingWriter writer;
  writer.alloc(1, 2048);
  Recording recording = writer.recording();
  recording.traces[0].start.segments.push_back({.address = Address{1} << 40, .size = 4096});
  recording.traces[0].start.segments[0].blocks = {{.address = Address{1} << 40,
                                                   .size = 4096,
                                                   .requested = 4096,
                                                   .state = BlockState::allocated,
                                                   .slot = 0}};
  const PlacedBlocks blocks = placed(recording, recording.traces[0], "direct");
  EXPECT_THAT(offsets(blocks), ElementsAre(0, 4096));
  EXPECT_THAT(steps_of(blocks.reserved_bytes), ElementsAre(4096, 6144));
  EXPECT_THAT(numbers_of(blocks.region_bytes), ElementsAre(4096, 2048));
  EXPECT_THAT(numbers_of(blocks.region_lanes), ElementsAre(1, 1));
  EXPECT_EQ(blocks.early_regions, 1u);
}

TEST(PlacedBlocks, AStrategyThatMovesBlocksIsNotDrawn) {
  RecordingWriter writer;
  writer.alloc(0, 1024);
  const PlacedBlocks blocks = placed(writer, "offload(torch):host=1GiB", 8 * kMiB);
  EXPECT_FALSE(blocks.keeps_places);
  EXPECT_THAT(blocks.places.bytes(), IsEmpty());
}

/// The most bytes held, after or within an event, as the columns say.
std::int64_t highest(const PlacedBlocks& blocks) {
  std::int64_t most = 0;
  for (const std::int64_t bytes : steps_of(blocks.reserved_bytes)) most = std::max(most, bytes);
  for (const std::int64_t bytes : steps_of(blocks.within_bytes)) most = std::max(most, bytes);
  return most;
}

TEST(PlacedBlocks, TheReservedPeakIsThatOfTheReplayForEveryBundledRecording) {
  for (const auto& file : std::filesystem::recursive_directory_iterator(MEMREPLAY_TRACES)) {
    const std::string name = file.path().string();
    if (!name.ends_with(".pickle") && !name.ends_with(".csv")) continue;
    const Recording recording = read_recording(name);
    const Trace& trace = recording.traces[0];
    const Subject subject(recording, trace);
    for (const char* strategy : {"torch", "torch:expandable_segments=True", "bfc", "direct"}) {
      for (const std::optional<Bytes> capacity : {std::optional<Bytes>(), {300 * kMiB}}) {
        Trial trial(Contender(subject, parse_strategy(strategy)),
                    {.device = {.capacity = capacity}});
        const RunMetrics truth = trial.run().metrics;
        const PlacedBlocks blocks = placed(recording, trace, strategy, capacity);
        if (strategy == std::string("direct")) continue;  // it depends on the granularity
        EXPECT_EQ(highest(blocks), static_cast<std::int64_t>(truth.peak_reserved))
            << name << ' ' << strategy;
      }
    }
  }
}

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

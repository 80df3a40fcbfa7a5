#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/page/trace_picture.hpp"
#include "analysis/recordings.hpp"
#include "columns_read.hpp"
#include "replay/trial.hpp"
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
  Trial trial(subject, parse_strategy(strategy),
              {.device = {.capacity = capacity, .granularity = 512}, .log_device = true});
  PlaceRecorder recorder(subject.trace(), picture, trial.log());
  trial.run({.watcher = &recorder});
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
        Trial trial(subject, parse_strategy(strategy), {.device = {.capacity = capacity}});
        const RunMetrics truth = trial.run({}).metrics;
        const PlacedBlocks blocks = placed(recording, trace, strategy, capacity);
        if (strategy == std::string("direct")) continue;  // it depends on the granularity
        EXPECT_EQ(highest(blocks), static_cast<std::int64_t>(truth.peak_reserved))
            << name << ' ' << strategy;
      }
    }
  }
}

}  // namespace
}  // namespace memreplay

#include "extensions/diff/recordings.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "core/control.hpp"
#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "support/recordings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

using Change = PlaceDiff::Change;

RecordingsDiff diff_of(const Recording& a, const Recording& b,
                       std::optional<std::uint64_t> at_step = {}) {
  const Subject of_a(a, a.traces[0]);
  const Subject of_b(b, b.traces[0]);
  return diff_recordings(of_a, recorded_peaks(of_a), of_b, recorded_peaks(of_b), at_step);
}

Recording bundled(const std::string& name) {
  return read_recording(MEMREPLAY_TRACES "/torch/" + name);
}

// One block of each size, asked for in one place.
Recording asking(const std::string& place, const std::vector<Bytes>& sizes) {
  RecordingWriter writer;
  const std::uint32_t stack = writer.stack({place});
  for (Slot slot = 0; slot < sizes.size(); ++slot) writer.alloc(slot, sizes[slot], stack);
  return writer.recording();
}

TEST(RecordingsDiff, APlaceThatHoldsMoreGrew) {
  const RecordingsDiff diff = diff_of(asking("a.py:1 f", {8}), asking("a.py:1 f", {8, 8}));
  ASSERT_EQ(diff.places.size(), 1u);
  const PlaceDiff& place = diff.places[0];
  EXPECT_EQ(place.change(), Change::grew);
  EXPECT_EQ(place.a_bytes, 8u);
  EXPECT_EQ(place.b_bytes, 16u);
  EXPECT_EQ(diff.in_both.blocks, 1u);
  EXPECT_EQ(diff.only_b.bytes, 8u);
  EXPECT_EQ(diff.only_a.blocks, 0u);
}

TEST(RecordingsDiff, OtherSizesInTheSamePlaceAreNotTheSameBlocks) {
  const RecordingsDiff diff = diff_of(asking("a.py:1 f", {4, 8}), asking("a.py:1 f", {6, 6}));
  EXPECT_EQ(diff.places.at(0).change(), Change::other_sizes);
  EXPECT_EQ(diff.places[0].difference(), 0u);
  EXPECT_EQ(diff.places[0].sizes.size(), 3u);
  EXPECT_EQ(diff.in_both.blocks, 0u);
}

TEST(RecordingsDiff, APlaceOfOneSideOnlySaysWhich) {
  const RecordingsDiff diff = diff_of(asking("a.py:1 f", {4}), asking("b.py:1 g", {6}));
  ASSERT_EQ(diff.places.size(), 2u);
  EXPECT_EQ(diff.places[0].change(), Change::only_b);
  EXPECT_EQ(diff.places[1].change(), Change::only_a);
}

TEST(RecordingsDiff, LinesThatMovedAreTheSamePlace) {
  const RecordingsDiff diff = diff_of(asking("a.py:1 f", {4}), asking("a.py:3 f", {4}));
  EXPECT_EQ(diff.places.at(0).change(), Change::same);
  EXPECT_EQ(diff.places[0].place.name, "a.py:3 f");
  EXPECT_FALSE(diff.requests.first);
}

TEST(RecordingsDiff, WithoutStacksOnOneSideSizesStandForPlaces) {
  const Recording without = RecordingWriter().alloc(0, 4096).recording();
  const RecordingsDiff diff = diff_of(asking("a.py:1 f", {5000}), without);
  EXPECT_FALSE(diff.by_stack());
  ASSERT_EQ(diff.places.size(), 1u);
  EXPECT_EQ(diff.places[0].place.name, "requests of [4 KiB, 8 KiB)");
  EXPECT_EQ(diff.places[0].change(), Change::shrank);
}

TEST(RecordingsDiff, PoolsAndStreamsAreKeptApart) {
  const Recording recording = asking("a.py:1 f", {4});
  const RecordedTrace trace{recording, recording.traces[0]};
  const CommonPlaces places(trace, trace);
  const auto diffs = diff_blocks(places, {{.slot = 0, .requested = 4, .asker = {.stack = 1}}},
                                 {{.slot = 0, .requested = 4, .pool = 2, .asker = {.stack = 1}},
                                  {.slot = 1, .requested = 4, .stream = 1, .asker = {.stack = 1}}});
  ASSERT_EQ(diffs.size(), 3u);
  EXPECT_EQ(diffs[0].change(), Change::only_a);
  EXPECT_EQ(diffs[1].stream, 1u);
  EXPECT_TRUE(diffs[2].private_pool);
}

TEST(RecordingsDiff, StepsHavePeaksOfTheirOwn) {
  RecordingWriter writer;
  writer.alloc(0, 10).free(0).add(Op::marker, kNoSlot, 0).alloc(0, 30).free(0);
  const Recording a = writer.recording();
  const RecordingsDiff diff = diff_of(a, a, 1);
  EXPECT_EQ(diff.a.whole.requested, 30u);
  EXPECT_EQ(diff.a_peak.requested, 10u);
  EXPECT_EQ(diff.places.at(0).a_bytes, 10u);
  EXPECT_EQ(diff.a.spans.at(2).requested, 30u);
}

TEST(RecordingsDiff, WhatIsHeldWhenAStepBeginsCountsInIt) {
  RecordingWriter writer;
  writer.alloc(0, 10).add(Op::marker, kNoSlot, 0).free(0).alloc(0, 4);
  const Recording a = writer.recording();
  const RecordingsDiff diff = diff_of(a, a, 2);
  EXPECT_EQ(diff.a_peak.requested, 10u);
  EXPECT_EQ(diff.a_peak.behind, 2u);
  EXPECT_EQ(diff.places.at(0).a_bytes, 10u);
}

TEST(RecordingsDiff, RefusesAStepThatIsNotThere) {
  const Recording a = RecordingWriter().alloc(0, 10).recording();
  EXPECT_THROW(diff_of(a, a, 1), UsageError);
}

TEST(RecordingsDiff, UnderAStrategyOnlyWhatWasServedIsHeld) {
  const Recording a = asking("a.py:1 f", {600, 600});
  const Subject subject(a, a.traces[0]);
  memreplay::Setup setup;
  setup.capacity = 1000;
  setup.granularity = 1;
  const auto replayed = [&] {
    return replayed_peaks(subject, parse_strategy("direct"), setup, {});
  };
  const RecordingsDiff diff = diff_recordings(subject, replayed(), subject, replayed(), {});
  EXPECT_EQ(diff.a.whole.allocated, 600u);
  EXPECT_EQ(diff.places.at(0).a_bytes, 600u);
  EXPECT_EQ(diff.a.run->metrics.ooms, 1u);
}

TEST(RecordingsDiff, ABlockFreedFirstWasHeldBeforeIt) {
  const Recording warm = bundled("warm_ring.pickle");
  const Subject subject(warm, warm.traces[0]);
  const SidePeaks replayed = replayed_peaks(subject, parse_strategy("recorded"), {}, {});
  EXPECT_EQ(replayed.whole.requested, recorded_peaks(subject).whole.requested);
  EXPECT_EQ(replayed.whole.allocated, replayed.run->metrics.peak_allocated);
}

TEST(RecordingsDiff, OneLayerMoreIsWhatItsBlocksAre) {
  const RecordingsDiff diff = diff_of(bundled("layers_4.pickle"), bundled("layers_5.pickle"));
  EXPECT_EQ(diff.only_a.blocks, 0u);
  EXPECT_EQ(diff.only_b.bytes, 72 * kMiB);
  EXPECT_EQ(diff.places.at(0).place.name, "model.py:13 forward");
  EXPECT_EQ(diff.places[0].difference(), 40 * kMiB);
  Bytes a = 0;
  Bytes b = 0;
  for (const PlaceDiff& place : diff.places) {
    a += place.a_bytes;
    b += place.b_bytes;
  }
  EXPECT_EQ(a, diff.a_peak.requested);
  EXPECT_EQ(b, diff.b_peak.requested);
}

// The same programs recorded under other settings make the same requests.
TEST(RecordingsDiff, OtherSettingsAloneChangeNoRequest) {
  const std::string corpus = MEMREPLAY_SHARED "/corpus/torch/";
  if (!std::filesystem::exists(corpus)) GTEST_SKIP() << "no " << corpus;
  for (const char* name : {"gpt_train-s1", "cnn_train-s1", "annotated-s1", "graph_pool-s1",
                           "mem_pool-s1", "fuzz_streams-s1"}) {
    const RecordingsDiff diff = diff_of(read_recording(corpus + name + ".default.pickle"),
                                        read_recording(corpus + name + ".exp.pickle"));
    EXPECT_FALSE(diff.requests.first) << name;
    EXPECT_TRUE(diff.requests.same_frees) << name;
    EXPECT_EQ(diff.a_peak.requested, diff.b_peak.requested) << name;
    EXPECT_NE(diff.a_peak.reserved, diff.b_peak.reserved) << name;
  }
}

}  // namespace
}  // namespace memreplay

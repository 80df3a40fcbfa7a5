#include "program/live_blocks.hpp"

#include <gtest/gtest.h>

#include "support/recordings.hpp"

namespace memreplay {
namespace {

TEST(CallTree, SumsOfCalledPlacesStandBelowTheirCallersTheLargestFirst) {
  RecordingWriter writer;
  const auto small =
      writer.stack({"/p/a.py:1 f", "/v/site-packages/torch/x.py:9 call", "/p/t.py:7 main"});
  const auto large = writer.stack({"/p/b.py:2 g", "/p/t.py:7 main"});
  const auto other = writer.stack({"/p/b.py:2 g", "/p/e.py:5 test"});
  const Recording recording =
      writer.alloc(0, 10, small).alloc(1, 30, large).alloc(2, 20, other).alloc(3, 5).recording();
  const auto tree = call_tree(live_before(recording.traces[0], 4), Places(recording));
  ASSERT_EQ(tree.size(), 3u);
  EXPECT_EQ(tree[0].sum.place, "t.py:7 main");
  EXPECT_EQ(tree[0].sum.bytes, 40u);
  EXPECT_EQ(tree[0].sum.blocks, 2u);
  ASSERT_EQ(tree[0].calls.size(), 2u) << "the frame of PyTorch is folded";
  EXPECT_EQ(tree[0].calls[0].sum.place, "b.py:2 g");
  EXPECT_EQ(tree[0].calls[1].sum.place, "a.py:1 f");
  EXPECT_EQ(tree[1].sum.place, "e.py:5 test");
  EXPECT_EQ(tree[2].sum.place, "(no stack recorded)");
  EXPECT_TRUE(tree[2].calls.empty());
}

TEST(CallTree, ByFileSeveralFramesOfOneFileAreOneCaller) {
  RecordingWriter writer;
  const auto stack = writer.stack({"/p/a.py:1 f", "/p/a.py:8 g", "/p/t.py:7 main"});
  const Recording recording = writer.alloc(0, 10, stack).recording();
  const auto tree =
      call_tree(live_before(recording.traces[0], 1), Places(recording, PlaceBy::file));
  ASSERT_EQ(tree.size(), 1u);
  EXPECT_EQ(tree[0].sum.place, "t.py");
  ASSERT_EQ(tree[0].calls.size(), 1u);
  EXPECT_EQ(tree[0].calls[0].sum.place, "a.py");
  EXPECT_TRUE(tree[0].calls[0].calls.empty());
}

using Held = std::map<std::string, Bytes>;

std::vector<PlaceGrowth> grown(Held before, Held now, Bytes others = 0) {
  return growth({.places = std::move(before), .others = others}, {.places = std::move(now)});
}

TEST(Growth, ListsWhatHoldsMoreMostFirst) {
  const auto places = grown({{"a.py:1 f", 10}, {"b.py:1 g", 10}, {"c.py:1 h", 10}},
                            {{"a.py:1 f", 12}, {"b.py:1 g", 10}, {"c.py:1 h", 40}});
  ASSERT_EQ(places.size(), 2u);
  EXPECT_EQ(places[0].place, "c.py:1 h");
  EXPECT_EQ(places[0].before, 10u);
  EXPECT_EQ(places[0].now, 40u);
  EXPECT_EQ(places[0].grown, 30u);
  EXPECT_EQ(places[1].place, "a.py:1 f");
}

TEST(Growth, ANewPlaceGrewFromNothing) {
  const auto places = grown({{"a.py:1 f", 10}}, {{"a.py:1 f", 10}, {"b.py:1 g", 5}});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].before, 0u);
  EXPECT_EQ(places[0].grown, 5u);
}

TEST(Growth, LinesThatMovedWithTheirFunctionAreTheSame) {
  const auto places =
      grown({{"a.py:88 f", 10}, {"a.py:89 f", 70}}, {{"a.py:89 f", 10}, {"a.py:90 f", 75}});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].place, "a.py:90 f");
  EXPECT_EQ(places[0].grown, 5u);
}

TEST(Growth, ALineBesideThoseThatStayedIsNew) {
  const auto places = grown({{"a.py:8 f", 10}}, {{"a.py:8 f", 10}, {"a.py:9 f", 3}});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].place, "a.py:9 f");
}

TEST(Growth, WhereLinesMovedAndCameTheFunctionCountsAsOne) {
  const auto places = grown({{"a.py:8 f", 10}, {"a.py:9 f", 10}},
                            {{"a.py:7 f", 10}, {"a.py:10 f", 10}, {"a.py:11 f", 4}});
  ASSERT_EQ(places.size(), 1u);
  EXPECT_EQ(places[0].place, "a.py f");
  EXPECT_EQ(places[0].grown, 4u);
}

TEST(Growth, WhereALineWentTheFunctionCountsAsOne) {
  EXPECT_TRUE(grown({{"a.py:8 f", 10}, {"a.py:9 f", 70}}, {{"a.py:8 f", 70}}).empty());
}

TEST(Growth, WhatTheBaselineMayHaveLeftOutIsCalledTheMost) {
  const auto places = grown({{"a.py:1 f", 10}}, {{"a.py:1 f", 10}, {"b.py:1 g", 50}}, 100);
  ASSERT_EQ(places.size(), 1u);
  EXPECT_FALSE(places[0].before);
  EXPECT_EQ(places[0].grown, 50u);
}

TEST(Growth, WhatMayHaveBeenLeftOutAsLargeAsItIsNowIsNotListed) {
  EXPECT_TRUE(grown({{"a.py:1 f", 10}}, {{"a.py:1 f", 10}, {"b.py:1 g", 10}}, 100).empty());
}

TEST(Growth, StacksAndSizesAreNotCompared) {
  EXPECT_TRUE(growth({.by = PlacesHeld::By::size, .places = {}}, {.places = {{"a", 1}}}).empty());
}

TEST(PlacesHeld, AreClassesOfSizesWhereNoStackIsRecorded) {
  const Recording recording = RecordingWriter().alloc(0, 4096).alloc(1, 8191).recording();
  const Trace& trace = recording.traces[0];
  const PlacesHeld held = places_held(recording, trace, live_before(trace, 2));
  EXPECT_EQ(held.by, PlacesHeld::By::size);
  EXPECT_EQ(held.places, (Held{{"requests of [4 KiB, 8 KiB)", 12287}}));
}

TEST(PlacesHeld, TheLargestStayAndTheRestIsSummed) {
  const PlacesHeld held =
      largest_places({.places = {{"a", 1}, {"b", 5}, {"c", 1}, {"d", 2}}, .others = 7}, 3);
  EXPECT_EQ(held.places, (Held{{"a", 1}, {"b", 5}, {"d", 2}}));
  EXPECT_EQ(held.others, 8u);
}

TEST(Growth, WithoutStacksTagsOfRequestsAreThePlaces) {
  Recording recording = RecordingWriter().alloc(0, 8).alloc(1, 4).recording();
  recording.texts.push_back("weights");
  const auto tag = static_cast<std::uint32_t>(recording.texts.size() - 1);
  recording.traces[0].tags = {tag, 0};
  const PlacesHeld held =
      places_held(recording, recording.traces[0], live_before(recording.traces[0], 2));
  EXPECT_EQ(held.by, PlacesHeld::By::stack);
  EXPECT_EQ(held.places, (std::map<std::string, Bytes>{{"weights", 8}, {"(no tag)", 4}}));
}

TEST(Growth, FoldersThatANameDidNotHaveMakeNoNewPlace) {
  const PlacesHeld before{.places = {{"model.py:10 f", 8}}};
  const PlacesHeld now{.places = {{"enc/model.py:10 f", 8}, {"dec/model.py:12 f", 4}}};
  const auto grown = growth(before, now);
  ASSERT_EQ(grown.size(), 1u);
  EXPECT_EQ(grown[0].place, "dec/model.py:12 f");
}

TEST(LiveBlocks, AreThoseRequestedAndNotFreedOldestFirst) {
  const Recording recording =
      RecordingWriter().alloc(2, 20).alloc(0, 10).alloc(1, 30).free(0).alloc(0, 40).recording();
  const auto live = live_before(recording.traces[0], 5);
  ASSERT_EQ(live.size(), 3u);
  EXPECT_EQ(live[0].slot, 2u);
  EXPECT_EQ(live[1].slot, 1u);
  EXPECT_EQ(live[2].requested, 40u);
  EXPECT_EQ(live[2].born, 4u);
  EXPECT_EQ(live_before(recording.traces[0], 0).size(), 0u);
}

TEST(LiveBlocks, TheRequestedPeakIsOneBehindTheFirstHighest) {
  const Recording recording =
      RecordingWriter().alloc(0, 10).alloc(1, 30).free(0).alloc(0, 10).recording();
  EXPECT_EQ(requested_peak(recording.traces[0]), 2u);
}

TEST(LiveBlocks, ThoseOfBeforeTheTraceCount) {
  Recording recording = RecordingWriter().alloc(1, 5).recording();
  Trace& trace = recording.traces[0];
  trace.start.segments = {
      {.address = 0,
       .size = 100,
       .blocks = {{.size = 60, .requested = 50, .state = BlockState::allocated, .slot = 0}}}};
  const auto live = live_before(trace, 1);
  ASSERT_EQ(live.size(), 2u);
  EXPECT_FALSE(live[0].born);
  EXPECT_EQ(requested_peak(trace), 1u);
}

TEST(LiveBlocks, SumByPlaceMostFirst) {
  RecordingWriter writer;
  const auto small = writer.stack({"a.py:1 f"});
  const auto large = writer.stack({"b.py:2 g"});
  const Recording recording =
      writer.alloc(0, 10, small).alloc(1, 8, large).alloc(2, 8, large).recording();
  const auto sums = by_place(live_before(recording.traces[0], 3), Places(recording));
  ASSERT_EQ(sums.size(), 2u);
  EXPECT_EQ(sums[0].place, "b.py:2 g");
  EXPECT_EQ(sums[0].bytes, 16u);
  EXPECT_EQ(sums[0].blocks, 2u);
}

}  // namespace

}  // namespace memreplay

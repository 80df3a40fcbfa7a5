#include "analysis/recorded/live_blocks.hpp"

#include <gtest/gtest.h>

#include "analysis/recordings.hpp"

namespace memreplay {
namespace {

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

#include "trace/trace_builder.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <stdexcept>
#include <vector>

namespace memreplay {
namespace {

TEST(TraceBuilder, StreamsAndPoolsAreNumberedByHandleWhateverCameFirst) {
  TraceBuilder builder(0);
  builder.add(Op::allocate, builder.lane(900, {0, 7}), builder.take_slot(), 1);
  builder.add(Op::allocate, builder.lane(0, {0, 3}), builder.take_slot(), 1);
  const Trace trace = builder.finish();
  EXPECT_EQ(trace.streams, (std::vector<std::uint64_t>{0, 900}));
  EXPECT_EQ(trace.pools, (std::vector<PoolId>{{0, 0}, {0, 3}, {0, 7}}));
  EXPECT_EQ(trace.lane(0), (StreamPool{1, 2}));
  EXPECT_EQ(trace.lane(1), (StreamPool{0, 1}));
}

TEST(TraceBuilder, AnEmptyTraceHasALaneAndTheDefaultPool) {
  const Trace trace = TraceBuilder(3).finish();
  EXPECT_EQ(trace.gpu, 3);
  EXPECT_EQ(trace.lanes.size(), 1u);
  EXPECT_EQ(trace.pools, std::vector<PoolId>{PoolId{}});
  EXPECT_EQ(trace.streams.size(), 1u);
}

TEST(TraceBuilder, StatesAreRenumberedLikeEvents) {
  TraceBuilder builder(0);
  SegmentInfo segment;
  segment.stream = builder.stream(5);
  segment.pool = builder.pool({1, 0});
  builder.trace().start.segments.push_back(segment);
  segment.stream = builder.stream(2);
  builder.trace().end.segments.push_back(segment);
  const Trace trace = builder.finish();
  EXPECT_EQ(trace.streams[trace.start.segments[0].stream], 5u);
  EXPECT_EQ(trace.streams[trace.end.segments[0].stream], 2u);
  EXPECT_EQ(trace.pools[trace.start.segments[0].pool], (PoolId{1, 0}));
}

TEST(TraceBuilder, ASlotIsUsedAgainAfterItsReturn) {
  TraceBuilder builder(0);
  const Slot first = builder.take_slot();
  builder.take_slot();
  builder.return_slot(first);
  EXPECT_EQ(builder.take_slot(), first);
  EXPECT_EQ(builder.trace().slot_count, 2u);
}

// Against a column that is filled to its length at each call.
TEST(TraceBuilder, ColdColumnsAreFilledUpToTheEventsSoFar) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    TraceBuilder builder(0);
    Trace expected;
    const bool late = round % 2 == 0;  // a column that begins after many events
    for (std::uint32_t step = 0; step < 1000; ++step) {
      if (random() % 8 != 0) {
        builder.add(Op::allocate, 0, step, step);
        expected.sizes.push_back(step);
      }
      EXPECT_EQ(builder.lacks<&Trace::tags>(), expected.tags.size() < expected.sizes.size());
      if (random() % 4 != 0) {
        builder.fill<&Trace::tags>(step);
        expected.tags.resize(expected.sizes.size(), step);
      }
      if (late ? step > 600 : random() % 300 == 0) {
        builder.fill<&Trace::times_us>(std::int64_t{step});
        expected.times_us.resize(expected.sizes.size(), step);
      }
      if (random() % 100 == 0) {
        EXPECT_EQ(builder.trace().sizes, expected.sizes);
        EXPECT_EQ(builder.trace().tags, expected.tags);
      }
      ASSERT_EQ(builder.size(), expected.sizes.size());
    }
    const Trace trace = builder.finish();
    EXPECT_EQ(trace.sizes, expected.sizes);
    EXPECT_EQ(trace.tags, expected.tags);
    EXPECT_EQ(trace.times_us, expected.times_us);
    EXPECT_TRUE(trace.ids.empty());
  }
}

TEST(TraceBuilder, AnEventMayChangeWhereverItIs) {
  TraceBuilder builder(0);
  for (Slot slot = 0; slot < 300; ++slot) builder.add(Op::free, 0, slot, 1);
  for (const std::size_t event : {0, 255, 256, 299}) builder.op(event) = Op::free_requested;
  const Trace trace = builder.finish();
  for (std::size_t event = 0; event < 300; ++event) {
    const bool is_changed = event == 0 || event == 255 || event == 256 || event == 299;
    EXPECT_EQ(trace.ops[event], is_changed ? Op::free_requested : Op::free) << event;
  }
}

TEST(TraceBuilder, MoreStreamsThanAnIndexCanNameAreRefused) {
  TraceBuilder builder(0);
  for (std::uint64_t handle = 0; handle < 65535; ++handle) builder.stream(handle);
  EXPECT_THROW(builder.stream(65535), std::length_error);
}

}  // namespace
}  // namespace memreplay

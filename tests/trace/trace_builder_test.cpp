#include "trace/trace_builder.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

namespace memreplay {
namespace {

TEST(TraceBuilder, StreamsAndPoolsAreNumberedByHandleWhateverCameFirst) {
  TraceBuilder builder(0);
  builder.add(Op::allocate, builder.lane(900, {0, 7}), builder.take_slot(), 1);
  builder.add(Op::allocate, builder.lane(0, {0, 3}), builder.take_slot(), 1);
  const Trace trace = builder.finish();
  EXPECT_EQ(trace.streams, (std::vector<std::uint64_t>{0, 900}));
  EXPECT_EQ(trace.pools, (std::vector<PoolId>{{0, 0}, {0, 3}, {0, 7}}));
  EXPECT_EQ(trace.lane(0), (Lane{1, 2}));
  EXPECT_EQ(trace.lane(1), (Lane{0, 1}));
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

TEST(TraceBuilder, MoreStreamsThanAnIndexCanNameAreRefused) {
  TraceBuilder builder(0);
  for (std::uint64_t handle = 0; handle < 65535; ++handle) builder.stream(handle);
  EXPECT_THROW(builder.stream(65535), std::length_error);
}

}  // namespace
}  // namespace memreplay

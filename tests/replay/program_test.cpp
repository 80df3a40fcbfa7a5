#include "replay/program.hpp"

#include <gtest/gtest.h>

#include "steps.hpp"

namespace memreplay {
namespace {

using Kind = Act::Kind;

Trace five_events() {
  return trace_of({{Op::allocate, 0, 8},
                   {Op::free_requested, 0, 8},
                   {Op::free_completed, 0, 8},
                   {Op::allocate, 1, 9},
                   {Op::allocate, 2, 10}});
}

/// A block of 600 bytes in use and one of 90 that waits for another stream.
Trace warm_trace() {
  Trace trace = trace_of({{Op::free, 0, 600}, {Op::free_completed, 1, 90}});
  SegmentInfo segment{.address = 0x7f0000000000, .size = 4096, .stream = 3, .pool = 2};
  segment.blocks = {{.address = segment.address,
                     .size = 1024,
                     .requested = 600,
                     .state = BlockState::allocated,
                     .slot = 0},
                    {.address = segment.address + 1024, .size = 1024},
                    {.address = segment.address + 2048,
                     .size = 2048,
                     .requested = 90,
                     .state = BlockState::pending,
                     .slot = 1}};
  trace.start.segments.push_back(segment);
  return trace;
}

TEST(Program, ViewsItsTraceWhereNothingIsLeftOutNorScaled) {
  const Trace trace = five_events();
  const Program program = program_of(trace, nullptr);
  EXPECT_EQ(program.size(), 5u);
  EXPECT_EQ(program.ops.data(), trace.ops.data());
  EXPECT_EQ(program.sizes.data(), trace.sizes.data());
  EXPECT_TRUE(program.acts.empty() && program.rescaled.empty() && program.blocks.empty());
}

TEST(Program, EndsWhereItIsToldTo) {
  const Trace trace = five_events();
  const Program program = program_of(trace, nullptr, {.to = 2});
  EXPECT_EQ(program.size(), 2u);
  EXPECT_EQ(program.slots.size(), 2u);
  EXPECT_EQ(program_of(trace, nullptr, {.to = 9}).size(), 5u);
}

TEST(Program, SizesAreScaledUpwardsButNotACountOfFrees) {
  const Trace trace = trace_of({{Op::allocate, 0, 8}, {Op::safe_frontier, kNoSlot, 8}});
  Program program = program_of(trace, nullptr, {.scale = 3});
  EXPECT_EQ(program.request(0).size, 3u);
  EXPECT_EQ(program.sizes[1], 8u);
  const Program moved = std::move(program);
  EXPECT_EQ(moved.sizes.data(), moved.rescaled.data());
}

TEST(Program, ActsStandInTheOrderInWhichTheyAreDone) {
  const Trace trace = five_events();
  Reading reading;
  reading.calls = {{.event = 2, .kind = ProgramCall::Kind::end_pool, .pool = 1},
                   {.event = 3, .kind = ProgramCall::Kind::release_pool, .pool = 2}};
  reading.deferrals = {{.event = 2, .due = 3}};
  const Program program = program_of(trace, &reading, {.insert_empty_cache = {3}});
  EXPECT_EQ(program.acts, (std::vector<Act>{{2, Kind::end_pool, 1, 0},
                                            {2, Kind::park, 0, 0},
                                            {3, Kind::complete, 0, 0},
                                            {3, Kind::empty_cache, 0, 0},
                                            {3, Kind::release_pool, 2, 0}}));
  EXPECT_EQ(program.parkings, 1u);
}

// A plan has to know how long the block lives.
TEST(Program, OnlyACompletionMayComeBehindTheEnd) {
  const Trace trace = five_events();
  Reading reading;
  reading.calls = {{.event = 4, .kind = ProgramCall::Kind::empty_cache}};
  reading.deferrals = {{.event = 2, .due = 4}};
  const Program program = program_of(trace, &reading, {.to = 3, .insert_empty_cache = {3}});
  EXPECT_EQ(program.acts, (std::vector<Act>{{2, Kind::park, 0, 0}, {4, Kind::complete, 0, 0}}));
}

TEST(Program, BlocksFromBeforeTheTraceAreThereUnlessItStartsCold) {
  const Trace trace = warm_trace();
  const Program program = program_of(trace, nullptr, {.scale = 100});
  ASSERT_EQ(program.blocks.size(), 2u);
  EXPECT_EQ(program.blocks[0].request.size, 6u);
  EXPECT_EQ(program.blocks[0].request.stream, 3u);
  EXPECT_EQ(program.blocks[0].request.pool, 2u);
  EXPECT_FALSE(program.blocks[0].pending);
  EXPECT_EQ(program.blocks[1].slot, 1u);
  EXPECT_TRUE(program.blocks[1].pending);
  const Program cold = program_of(trace, nullptr, {.start = StartMode::cold});
  EXPECT_TRUE(cold.blocks.empty() && cold.starts_cold);
  EXPECT_EQ(cold.start, &trace.start);
}

TEST(Program, RequestsSayAllThatTheTraceDoes) {
  Trace trace = trace_of({{Op::allocate, 0, 8}});
  trace.align_log2 = {6};
  trace.threads = {4};
  trace.tags = {5};
  trace.freed_before = {7};
  trace.upper_end = {1};
  const Program program = program_of(trace, nullptr);
  const Request request = program.request(0);
  EXPECT_EQ(request.alignment, 64u);
  EXPECT_EQ(request.thread, 4u);
  EXPECT_EQ(request.tag, 5u);
  EXPECT_EQ(request.freed_before, 7u);
  EXPECT_TRUE(request.upper_end);
  EXPECT_EQ(program.giver(0).thread, 4u);
}

}  // namespace
}  // namespace memreplay

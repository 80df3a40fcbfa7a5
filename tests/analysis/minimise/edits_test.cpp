#include <gtest/gtest.h>

#include "analysis/minimise/story.hpp"

namespace memreplay {
namespace {

Story::Block block(Bytes size, Story::Place born, Story::Place freed = Story::kNever) {
  return {.size = size, .born = born, .freed = freed, .completed = freed};
}

Trace of_one_lane() {
  Trace trace;
  trace.lanes = {{}};
  return trace;
}

TEST(Edits, TwoBlocksBecomeOneOfBothSizes) {
  Story::Block into = block(100, 0, 4);
  ASSERT_TRUE(join(into, block(200, 2, 6), {.born_first = true, .freed_last = true}));
  EXPECT_EQ(into.size, 300u);
  EXPECT_EQ(into.born, 0u);
  EXPECT_EQ(into.freed, 6u);
  EXPECT_EQ(into.completed, 6u);
}

TEST(Edits, WhatWouldEndBeforeItBeginsIsNotJoined) {
  Story::Block into = block(100, 0, 1);
  EXPECT_FALSE(join(into, block(200, 2, 6), {.born_first = false, .freed_last = false}));
  EXPECT_EQ(into.size, 100u);
}

TEST(Edits, TheFirstBlockGrowsAndOthersStandBeforeItAndBeforeTheLast) {
  Story story{.lanes = {{}}, .blocks = {block(100, 0), block(9, 1)}, .places = 2};
  story = filled(std::move(story), {.growth = 50, .blocks = {64}, .late = {7, 8}});
  const Trace trace = trace_of(story, of_one_lane());
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{64, 150, 7, 8, 9}));
}

TEST(Edits, AFirstBlockThatIsFreedDoesNotGrow) {
  Story story{.lanes = {{}}, .blocks = {block(100, 0, 1), block(9, 2)}, .places = 3};
  story = filled(std::move(story), {.growth = 50});
  const Trace trace = trace_of(story, of_one_lane());
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::allocate, Op::allocate, Op::free, Op::allocate}));
  EXPECT_EQ(trace.sizes, (std::vector<Bytes>{50, 100, 100, 9}));
}

}  // namespace
}  // namespace memreplay

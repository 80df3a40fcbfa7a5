#include "run/late_start/rehearsal.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "device/simulated_device.hpp"
#include "replay/program.hpp"
#include "run/late_start/late_trace.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

std::vector<bool> founders(const WarmParts& parts) {
  std::vector<bool> founders;
  for (const EarlierBlock& block : parts.blocks) founders.push_back(block.founder);
  return founders;
}

using Answers = std::vector<bool>;

TEST(WarmParts, ABlockThatBeginsASegmentOfItsSizeFoundedIt) {
  LateTrace trace;
  trace.segment(40 * kMiB).live(39 * kMiB).live(kMiB);
  EXPECT_EQ(founders(trace.parts()), (Answers{true, false}));
}

TEST(WarmParts, ABlockThatBeginsALargerSegmentIsAGuest) {
  LateTrace trace;
  trace.segment(60 * kMiB).live(30 * kMiB).free_space(30 * kMiB);
  EXPECT_EQ(founders(trace.parts()), (Answers{false}));
}

TEST(WarmParts, AStandardSegmentThatBeginsAliveWasFilledEarly) {
  LateTrace trace;
  trace.segment(20 * kMiB).live(4 * kMiB).free_space(4 * kMiB).live(8 * kMiB);
  trace.segment(20 * kMiB).free_space(12 * kMiB).live(8 * kMiB);
  EXPECT_EQ(founders(trace.parts()), (Answers{true, true, false}));
}

TEST(WarmParts, SmallBlocksAreFounders) {
  LateTrace trace;
  trace.segment(2 * kMiB, true).free_space(kMiB).live(kMiB);
  EXPECT_EQ(founders(trace.parts()), (Answers{true}));
}

TEST(WarmParts, InExpandableMemoryWhatLiesBehindAHoleCameLater) {
  LateTrace trace;
  trace.segment(100 * kMiB, false, true).live(40 * kMiB).free_space(512);
  trace.live(10 * kMiB).free_space(20 * kMiB).live(5 * kMiB);
  EXPECT_EQ(founders(trace.parts()), (Answers{true, true, false}));
}

TEST(WarmParts, ALargeSegmentWithoutItsFounderStoodForARequestOfItsSize) {
  LateTrace trace;
  trace.segment(60 * kMiB).live(8 * kMiB).free_space(52 * kMiB);
  trace.segment(20 * kMiB).free_space(20 * kMiB);
  trace.segment(40 * kMiB).live(40 * kMiB);
  const WarmParts parts = trace.parts();
  ASSERT_EQ(parts.idle_segments.size(), 1u);
  EXPECT_EQ(parts.idle_segments[0].size, 60 * kMiB);
  EXPECT_EQ(parts.reserved, 120 * kMiB);
}

TEST(WarmParts, ABlockThatIsFreedIsPassingAlsoWhereItsSlotIsUsedAgain) {
  LateTrace trace;
  trace.segment(40 * kMiB).live(40 * kMiB).segment(30 * kMiB).live(30 * kMiB);
  trace.free(1).alloc(1, 512).free(1).alloc(2, 512).free(2);
  const WarmParts parts = trace.parts();
  EXPECT_TRUE(parts.blocks[0].persistent);
  EXPECT_FALSE(parts.blocks[1].persistent);
}

TEST(WarmParts, RequestsOfThePersistentSizesAndTinyOnesDoNotScale) {
  LateTrace trace;
  trace.segment(40 * kMiB).live(40 * kMiB);
  trace.alloc(1, 30 * kMiB).alloc(2, 40 * kMiB).alloc(3, 4095).alloc(4, 40 * kMiB - 1);
  const WarmParts parts = trace.parts();
  EXPECT_EQ(parts.scalable, (std::vector<std::uint8_t>{1, 0, 0, 0}));
  EXPECT_EQ(parts.largest_scalable, 30 * kMiB);
}

TEST(WarmParts, TheLargestSegmentThatTheModelDoesNotExplainShowsTheLargestStep) {
  LateTrace trace;
  trace.segment(100 * kMiB).live(100 * kMiB);        // the model's
  trace.segment(200 * kMiB).free_space(200 * kMiB);  // twice as large: a conversion
  trace.segment(70 * kMiB).free_space(70 * kMiB);
  trace.segment(50 * kMiB).free_space(50 * kMiB);
  EXPECT_EQ(trace.parts().largest_earlier, 70 * kMiB);
}

TEST(WarmParts, WhatTheEndLeavesIsInTheOrderOfItsRequests) {
  LateTrace trace;
  trace.segment(40 * kMiB).live(40 * kMiB);
  trace.alloc(3, 512).alloc(1, 512).alloc(2, 512).request_free(1).free(2).request_free(0);
  const WarmParts parts = trace.parts();
  ASSERT_EQ(parts.left.size(), 3u);
  EXPECT_TRUE(parts.left[0].slot == 0 && parts.left[0].pending);
  EXPECT_TRUE(parts.left[1].slot == 3 && !parts.left[1].pending);
  EXPECT_TRUE(parts.left[2].slot == 1 && parts.left[2].pending);
}

using Start = Preparation::Start;

/// A trace, and PyTorch's allocator prepared for it.
class Prepared {
 public:
  Prepared(LateTrace& trace, const Preparation& preparation, const Reading* reading = nullptr)
      : trace_(trace.finish()), parts_(warm_parts(trace_, {})), placed_(trace_.slot_count) {
    strategy_ = make_strategy(parse_strategy("torch"), StrategyContext{.device = device_});
    const Program program = program_of(trace_, reading);
    const WarmScript script{program, program, parts_};
    Rehearsal rehearsal(script, *strategy_, device_, placed_);
    taken_ = rehearsal.prepare(preparation);
  }

  bool taken() const { return taken_; }
  Bytes reserved() const { return device_.usage().held; }
  Bytes peak_reserved() const { return device_.usage().peak_held; }
  bool is_live(Slot slot) const { return placed_.at(slot).handle != kNoHandle; }

 private:
  Trace trace_;
  WarmParts parts_;
  SimulatedDevice device_{{}};
  std::unique_ptr<Strategy> strategy_;
  std::vector<Placement> placed_;
  bool taken_ = false;
};

// A block of the model's own, one that the recording frees, and cached memory beside them.
LateTrace late_trace() {
  LateTrace trace;
  trace.segment(100 * kMiB).live(100 * kMiB).segment(30 * kMiB).live(30 * kMiB);
  trace.segment(50 * kMiB).free_space(50 * kMiB);
  trace.free(1).alloc(2, 40 * kMiB).free(2);
  return trace;
}

TEST(Rehearsal, WithoutStepsWhatWasThereIsThere) {
  LateTrace trace = late_trace();
  const Prepared prepared(trace, {Start::founders_first, {}});
  EXPECT_EQ(prepared.reserved(), 130 * kMiB);
  EXPECT_TRUE(prepared.is_live(0) && prepared.is_live(1));
}

TEST(Rehearsal, AStepLeavesItsMemoryCachedAndWhatWasThereAlive) {
  LateTrace trace = late_trace();
  const Prepared prepared(trace, {Start::founders_first, {1}});
  EXPECT_EQ(prepared.reserved(), 170 * kMiB);
  EXPECT_TRUE(prepared.is_live(0) && prepared.is_live(1));
  EXPECT_FALSE(prepared.is_live(2));
}

TEST(Rehearsal, RequestsThatScaleAreAsLargeAsTheStep) {
  LateTrace trace = late_trace();
  const Prepared prepared(trace, {Start::founders_first, {2}});
  EXPECT_EQ(prepared.reserved(), 210 * kMiB);
}

TEST(Rehearsal, SegmentsWithoutABlockAreHeldOnceMore) {
  LateTrace trace = late_trace();
  const Prepared prepared(trace, {Start::idle_first, {}});
  EXPECT_EQ(prepared.reserved(), 180 * kMiB);
}

TEST(Rehearsal, TheRecordedStateIsKeptWithOrWithoutWhatIsFree) {
  LateTrace all = late_trace();
  EXPECT_EQ(Prepared(all, {Start::kept, {}}).reserved(), 180 * kMiB);
  LateTrace live = late_trace();
  EXPECT_EQ(Prepared(live, {Start::kept_live, {}}).reserved(), 130 * kMiB);
}

TEST(Rehearsal, TheProgramsCallsOfEmptyCacheBelongToAStep) {
  LateTrace trace = late_trace();
  Reading reading;
  reading.calls = {{.event = 1, .kind = ProgramCall::Kind::empty_cache}};
  const Prepared prepared(trace, {Start::founders_first, {1}}, &reading);
  // The block of 30 MiB was returned before the one of 40 MiB came, in which it lies now.
  EXPECT_EQ(prepared.peak_reserved(), 140 * kMiB);
}

}  // namespace

}  // namespace memreplay

#include "analysis/late_start/rehearsal.hpp"

#include <gtest/gtest.h>

#include "analysis/late_start/late_trace.hpp"
#include "device/simulated_device.hpp"
#include "replay/program.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

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

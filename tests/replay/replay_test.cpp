#include "replay/replay.hpp"

#include <gtest/gtest.h>

#include "device/simulated_device.hpp"
#include "device/watch/ledger.hpp"
#include "steps.hpp"
#include "strategy/registry.hpp"

namespace memreplay {
namespace {

ReplayResult run(const Trace& trace, const char* strategy,
                 const SimulatedDeviceOptions& device = {}, const ReplayOptions& options = {},
                 const ProgramOptions& played = {}, const Attached& attached = {}) {
  SimulatedDevice simulated(device);
  const auto made =
      make_strategy(parse_strategy(strategy),
                    {.device = simulated, .capacity = device.capacity, .pools = trace.pools});
  return replay(program_of(trace, nullptr, played), *made, simulated, options, attached);
}

TEST(Replay, CountsRequestedAllocatedAndReserved) {
  const Trace trace = trace_of({{Op::allocate, 0, 1000}, {Op::free, 0, 1000}});
  const RunMetrics m = run(trace, "torch").metrics;
  EXPECT_EQ(m.peak_requested, 1000u);
  EXPECT_EQ(m.peak_allocated, 1024u);
  EXPECT_EQ(m.peak_reserved, 2 * kMiB);
  EXPECT_EQ(m.end_requested, 0u);
  EXPECT_EQ(m.end_reserved, 2 * kMiB);
  EXPECT_EQ(m.gap(), 2 * kMiB - 1024);
  EXPECT_EQ(m.events, 2u);
}

TEST(Replay, SaysWhereBlocksLieAtItsEnd) {
  const Trace trace = trace_of({{Op::allocate, 0, 1000},
                                {Op::allocate, 1, 1000},
                                {Op::free, 0, 1000},
                                {Op::allocate, 2, 8 * kMiB}});
  const ReplayResult result = run(trace, "torch", {.capacity = 4 * kMiB});
  ASSERT_EQ(result.blocks.size(), 3u);
  EXPECT_EQ(result.blocks[0].handle, kNoHandle);  // freed
  EXPECT_EQ(result.blocks[1].address, (Address{1} << 44) + 1024);
  EXPECT_EQ(result.blocks[2].handle, kNoHandle);  // refused
}

TEST(Replay, OfALongReservedPeakTheMomentWithMostInUseCounts) {
  // One segment of 20 MiB: at first 2 of it are used, later 18.
  const Trace trace = trace_of({{Op::allocate, 0, 2 * kMiB},
                                {Op::free, 0, 2 * kMiB},
                                {Op::allocate, 0, 9 * kMiB},
                                {Op::allocate, 1, 9 * kMiB},
                                {Op::free, 0, 9 * kMiB}});
  const RunMetrics m = run(trace, "torch").metrics;
  EXPECT_EQ(m.peak_reserved, 20 * kMiB);
  EXPECT_EQ(m.gap_at_peak_reserved, 2 * kMiB);
  EXPECT_EQ(m.external_fragmentation, 0);  // the 2 MiB are in one piece
}

TEST(Replay, ARefusedRequestIsCountedItsFreeDroppedAndTheReplayGoesOn) {
  const Trace trace = trace_of({{Op::allocate, 0, 8 * kMiB},
                                {Op::allocate, 1, 8 * kMiB},
                                {Op::free, 1, 8 * kMiB},
                                {Op::free, 0, 8 * kMiB},
                                {Op::allocate, 0, kMiB}});
  const RunMetrics m = run(trace, "direct", {.capacity = 10 * kMiB}).metrics;
  EXPECT_EQ(m.ooms, 1u);
  ASSERT_TRUE(m.first_oom);
  EXPECT_EQ(m.first_oom->event, 1u);
  EXPECT_EQ(m.first_oom->requested, 8 * kMiB);
  EXPECT_EQ(m.first_oom->free, 2 * kMiB);
  EXPECT_EQ(m.first_oom->live, 8 * kMiB);
  EXPECT_EQ(m.end_requested, kMiB);
  EXPECT_EQ(m.device_frees, 1u);
}

TEST(Replay, StopsAtTheFirstOomWhereAsked) {
  const Trace trace = trace_of({{Op::allocate, 0, 8 * kMiB}, {Op::allocate, 1, kMiB}});
  const ReplayResult result =
      run(trace, "direct", {.capacity = 4 * kMiB}, {.stops = {.at_oom = true}});
  EXPECT_FALSE(result.finished);
  EXPECT_EQ(result.metrics.allocs, 1u);
}

TEST(Replay, ABlockPendingForAnotherStreamIsNoLongerLiveButNotFreeEither) {
  const Trace trace = trace_of({{Op::allocate, 0, 600},
                                {Op::free_requested, 0, 600},
                                {Op::allocate, 1, 600},
                                {Op::free_completed, 0, 600}});
  const RunMetrics m = run(trace, "torch").metrics;
  EXPECT_EQ(m.peak_requested, 600u);
  EXPECT_EQ(m.end_requested, 600u);
}

TEST(Replay, TheWindowIsMeasuredAndWhatComesBeforeOnlyPlayed) {
  const Trace trace = trace_of({{Op::allocate, 0, 30 * kMiB},
                                {Op::free, 0, 30 * kMiB},
                                {Op::allocate, 0, 4 * kMiB},
                                {Op::allocate, 1, 50 * kMiB}});
  const RunMetrics m = run(trace, "direct", {}, {.measuring = {.from = 2}}, {.to = 3}).metrics;
  EXPECT_EQ(m.peak_requested, 4 * kMiB);
  EXPECT_EQ(m.peak_reserved, 4 * kMiB);
  EXPECT_EQ(m.device_allocs, 1u);
}

TEST(Replay, ARequestThatTheRecordedProgramWasRefusedIsFreedAtOnceWhereItIsServed) {
  const Trace trace = trace_of({{Op::oom, kNoSlot, 8 * kMiB}});
  const RunMetrics served = run(trace, "direct").metrics;
  EXPECT_EQ(served.ooms, 0u);
  EXPECT_EQ(served.end_reserved, 0u);
  EXPECT_EQ(run(trace, "direct", {.capacity = 4 * kMiB}).metrics.ooms, 1u);
}

Trace warm_trace() {
  Trace trace = trace_of({{Op::free, 0, 600}, {Op::allocate, 1, 600}});
  SegmentInfo segment{.address = 0x7f0000000000, .size = 2 * kMiB, .small_pool = true};
  segment.blocks = {{.address = segment.address,
                     .size = 1024,
                     .requested = 600,
                     .state = BlockState::allocated,
                     .slot = 0},
                    {.address = segment.address + 1024, .size = 2 * kMiB - 1024}};
  trace.start.segments.push_back(segment);
  return trace;
}

TEST(Replay, ARecordedStartStateIsTakenOverWhereTheStrategyCan) {
  const ReplayResult result = run(warm_trace(), "torch", {}, {}, {}, {.adopt_start = true});
  EXPECT_TRUE(result.started_exact);
  EXPECT_EQ(result.metrics.peak_requested, 600u);
  EXPECT_EQ(result.metrics.device_allocs, 0u);
  EXPECT_EQ(result.metrics.end_reserved, 2 * kMiB);
}

TEST(Replay, OtherwiseItsLiveBlocksAreAllocatedFirst) {
  const ReplayResult result = run(warm_trace(), "direct", {.granularity = 1});
  EXPECT_FALSE(result.started_exact);
  EXPECT_EQ(result.metrics.peak_reserved, 600u);
}

TEST(Replay, AColdStartSkipsWhatExistedBefore) {
  const ReplayResult result = run(warm_trace(), "direct", {}, {}, {.start = StartMode::cold});
  EXPECT_EQ(result.metrics.peak_requested, 600u);
  EXPECT_FALSE(result.started_exact);
}

TEST(Replay, TheLedgerSeesEveryPlacement) {
  SimulatedDevice simulated;
  Ledger ledger("torch");
  HeardDevice audited(simulated, ledger);
  const auto torch =
      make_strategy(parse_strategy("torch"), {.device = audited, .capacity = {}, .pools = {}});
  const Trace trace =
      trace_of({{Op::allocate, 0, 1000}, {Op::allocate, 1, 1000}, {Op::free, 0, 1000}});
  replay(program_of(trace, nullptr), *torch, audited, {.watcher = &ledger});
  EXPECT_EQ(ledger.live_blocks(), 1u);
}

TEST(Replay, AnInsertedEmptyCacheComesRightBeforeItsEvent) {
  const Trace trace = trace_of({{Op::allocate, 0, 30 * kMiB},
                                {Op::free, 0, 30 * kMiB},
                                {Op::allocate, 0, 40 * kMiB},
                                {Op::free, 0, 40 * kMiB}});
  EXPECT_EQ(run(trace, "torch").metrics.peak_reserved, 70 * kMiB);
  EXPECT_EQ(run(trace, "torch", {}, {}, {.insert_empty_cache = {2}}).metrics.peak_reserved,
            40 * kMiB);
  EXPECT_EQ(run(trace, "torch", {}, {}, {.insert_empty_cache = {1}}).metrics.peak_reserved,
            70 * kMiB);
}

TEST(Replay, AHopelessOneEnds) {
  const Trace trace = trace_of(
      {{Op::allocate, 0, 30 * kMiB}, {Op::allocate, 1, 30 * kMiB}, {Op::allocate, 2, 30 * kMiB}});
  RunSoFar seen;
  ReplayOptions options;
  options.stops.hopeless = [&](const RunSoFar& so_far) {
    seen = so_far;
    return so_far.peak_reserved > 50 * kMiB;
  };
  const ReplayResult result = run(trace, "torch", {}, options);
  EXPECT_FALSE(result.finished);
  EXPECT_EQ(result.metrics.events, 2u);
  EXPECT_EQ(seen.device_calls, 2u);
}

/// What an observer is told beside the events.
class Listener final : public Watcher {
 public:
  void on_start_block(Slot slot, const Placement& block) override {
    started.emplace_back(slot, block.address);
  }
  void on_late_completion(std::uint64_t event, const Placement& block) override {
    late.emplace_back(event, block.address);
  }
  void on_event(const EventState& state, const Strategy&) override {
    placements.push_back(state.placement);
  }

  std::vector<std::pair<Slot, Address>> started;
  std::vector<std::pair<std::uint64_t, Address>> late;
  std::vector<std::optional<Placement>> placements;
};

TEST(Replay, AnObserverIsToldWhereBlocksFromBeforeTheTraceLie) {
  Listener adopted;
  run(warm_trace(), "torch", {}, {.watcher = &adopted}, {}, {.adopt_start = true});
  EXPECT_EQ(adopted.started, (std::vector<std::pair<Slot, Address>>{{0, 0x7f0000000000}}));
  Listener placed;
  run(warm_trace(), "direct", {}, {.watcher = &placed});
  EXPECT_EQ(placed.started, (std::vector<std::pair<Slot, Address>>{{0, Address{1} << 44}}));
  Listener cold;
  run(warm_trace(), "direct", {}, {.watcher = &cold}, {.start = StartMode::cold});
  EXPECT_TRUE(cold.started.empty());
}

TEST(Replay, AnObserverIsToldOfACompletionThatComesLate) {
  const Trace trace = trace_of({{Op::allocate, 0, 600},
                                {Op::free_requested, 0, 600},
                                {Op::free_completed, 0, 600},
                                {Op::allocate, 1, 600},
                                {Op::allocate, 2, 600}});
  Reading reading;
  reading.deferrals = {{.event = 2, .due = 4}};
  SimulatedDevice device;
  const auto torch = make_strategy(parse_strategy("torch"), {.device = device});
  Listener listener;
  replay(program_of(trace, &reading), *torch, device, {.watcher = &listener});
  const Address first = listener.placements[0]->address;
  EXPECT_EQ(listener.late, (std::vector<std::pair<std::uint64_t, Address>>{{4, first}}));
  EXPECT_FALSE(listener.placements[2]);
  EXPECT_NE(listener.placements[3]->address, first);
  EXPECT_EQ(listener.placements[4]->address, first);
}

}  // namespace
}  // namespace memreplay

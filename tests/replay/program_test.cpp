#include "replay/program.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "core/error.hpp"
#include "device/simulated_device.hpp"
#include "random_recording.hpp"
#include "replay/replay.hpp"
#include "steps.hpp"
#include "strategy/registry.hpp"
#include "trace/reader.hpp"
#include "trace/writer.hpp"

namespace memreplay {
namespace {

constexpr std::uint64_t kEvents = 300'000;

class ColumnWindow : public testing::Test {
 protected:
  ColumnWindow()
      : path_(std::filesystem::temp_directory_path() /
              ("column_window_test." + std::to_string(getpid()) + ".mrt")),
        recording_(random_recording({.events = kEvents, .live_at_most = 500})) {
    Trace& trace = recording_.traces.front();
    for (std::size_t i = 0; i < trace.size(); ++i) trace.freed_before.push_back(i % 3);
    store([](std::string&) {});
  }
  ~ColumnWindow() override { std::filesystem::remove(path_); }

  void store(const std::function<void(std::string&)>& damage) const {
    std::ostringstream out;
    writer_for("a.mrt").write(recording_, out);
    std::string bytes = out.str();
    damage(bytes);
    std::ofstream(path_, std::ios::binary) << bytes;
  }
  Recording streamed() const { return read_recording(path_.string(), {.most_in_memory = 0}); }
  static RunMetrics replayed(const Trace& trace, std::uint64_t to = UINT64_MAX) {
    SimulatedDevice device({.capacity = 400 * kMiB});
    const auto strategy =
        make_strategy(parse_strategy("torch"), {.device = device, .pools = trace.pools});
    return replay(program_of(trace, nullptr, {.to = to}), *strategy, device).metrics;
  }

  std::filesystem::path path_;
  Recording recording_;
};

TEST_F(ColumnWindow, WhatIsReadOnTheWayIsWhatIsInMemory) {
  const Recording recording = streamed();
  const Program there = program_of(recording_.traces.front(), nullptr);
  const Program read = program_of(recording.traces.front(), nullptr);
  ASSERT_TRUE(read.feed);
  ASSERT_EQ(read.size(), kEvents);
  for (std::uint64_t event = 0; event < kEvents; ++event) {
    if (event % (1 << 14) == 0) {
      read.feed->advance(event);
      const std::uint64_t ahead = std::min(event + ProgramFeed::kAhead, kEvents) - 1;
      ASSERT_EQ(read.slots[ahead], there.slots[ahead]);
    }
    ASSERT_EQ(read.ops[event], there.ops[event]);
    ASSERT_EQ(read.slots[event], there.slots[event]);
    ASSERT_EQ(read.sizes[event], there.sizes[event]);
    ASSERT_EQ(read.lane_of[event], there.lane_of[event]);
    ASSERT_EQ(read.align_log2[event], there.align_log2[event]);
    ASSERT_EQ(read.freed_before[event], there.freed_before[event]);
    ASSERT_EQ(read.tags[event], 0u);
  }
}

TEST_F(ColumnWindow, ReplaysComeToTheSame) {
  const Recording recording = streamed();
  for (const std::uint64_t to : {UINT64_MAX, std::uint64_t{100'001}, std::uint64_t{1}}) {
    const RunMetrics read = replayed(recording.traces.front(), to);
    const RunMetrics there = replayed(recording_.traces.front(), to);
    EXPECT_EQ(read.events, there.events);
    EXPECT_EQ(read.ooms, there.ooms);
    EXPECT_EQ(read.peak_reserved, there.peak_reserved);
    EXPECT_EQ(read.end_allocated, there.end_allocated);
    EXPECT_EQ(read.counters, there.counters);
  }
}

TEST_F(ColumnWindow, AReplayThatEndsEarlyLeavesTheReaderBehind) {
  const Recording recording = streamed();
  const Program program = program_of(recording.traces.front(), nullptr);
  program.feed->advance(0);
}

TEST_F(ColumnWindow, DamageOnTheWayEndsTheReplay) {
  store([](std::string& bytes) { bytes[bytes.size() / 2] ^= 1; });
  const Recording recording = streamed();
  EXPECT_THROW(replayed(recording.traces.front()), InputError);
}

TEST_F(ColumnWindow, AFileThatBecomesShorterEndsTheReplay) {
  const Recording recording = streamed();
  std::filesystem::resize_file(path_, 100'000);
  EXPECT_THROW(replayed(recording.traces.front()), InputError);
}

using Kind = InferredCall::Kind;

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
  EXPECT_EQ(program.acts, (std::vector<InferredCall>{{2, Kind::end_pool, 1, 0},
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
  EXPECT_EQ(program.acts,
            (std::vector<InferredCall>{{2, Kind::park, 0, 0}, {4, Kind::complete, 0, 0}}));
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

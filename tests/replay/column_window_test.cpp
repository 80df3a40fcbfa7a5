#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>

#include "core/error.hpp"
#include "device/simulated_device.hpp"
#include "random_recording.hpp"
#include "replay/program.hpp"
#include "replay/replay.hpp"
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

}  // namespace
}  // namespace memreplay

#include "program/devices.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "support/recordings.hpp"

namespace memreplay {
namespace {

/// Devices from 0 on, each with the events of these.
Recording with_devices(const std::vector<RecordingWriter>& devices) {
  Recording all;
  for (RecordingWriter writer : devices) {
    Recording one = writer.recording();
    one.traces.front().gpu = static_cast<int>(all.traces.size());
    all.traces.push_back(std::move(one.traces.front()));
  }
  return all;
}

RecordingWriter marked() { return RecordingWriter().add(Op::marker, kNoSlot, 0); }
RecordingWriter worked() { return RecordingWriter().alloc(0, kMiB).free(0); }

std::vector<int> gpus_of(const std::vector<const Trace*>& traces) {
  std::vector<int> gpus;
  for (const Trace* trace : traces) gpus.push_back(trace->gpu);
  return gpus;
}

TEST(Devices, OneWithMarksAloneIsNotThere) {
  const Recording recording = with_devices({marked(), marked(), worked(), marked()});
  EXPECT_EQ(gpus_of(chosen_traces(recording, std::nullopt)), std::vector{2});
  EXPECT_EQ(gpus_of(chosen_traces(recording, 2)), std::vector{2});
  EXPECT_THROW(chosen_traces(recording, 0), UsageError);
}

TEST(Devices, OneWithAMarkAndMemoryIsThere) {
  for (MemoryState Trace::*state : {&Trace::start, &Trace::end}) {
    Recording recording = with_devices({marked(), worked()});
    (recording.traces[0].*state).segments.push_back({.address = kGiB, .size = 2 * kMiB});
    EXPECT_EQ(gpus_of(chosen_traces(recording, std::nullopt)), (std::vector{0, 1}));
  }
}

TEST(Devices, WhateverIsNoMarkIsAHistory) {
  for (const Op op : {Op::oom, Op::empty_cache, Op::segment_alloc}) {
    const Recording recording =
        with_devices({RecordingWriter().add(op, kNoSlot, kMiB), worked(), marked()});
    EXPECT_EQ(gpus_of(chosen_traces(recording, std::nullopt)), (std::vector{0, 1}));
  }
}

TEST(Devices, MarksAloneAreNothingToReplay) {
  EXPECT_TRUE(chosen_traces(with_devices({marked(), marked()}), std::nullopt).empty());
}

}  // namespace
}  // namespace memreplay

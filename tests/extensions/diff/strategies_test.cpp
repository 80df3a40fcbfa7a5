#include "extensions/diff/strategies.hpp"

#include <gtest/gtest.h>

#include "core/control.hpp"
#include "program/recorded_device.hpp"
#include "support/recordings.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

StrategiesDiff diff_of(const Recording& recording, const char* a, const char* b,
                       std::optional<Bytes> capacity = {}) {
  Setup setup;
  setup.granularity = 1;
  setup.capacity = capacity;
  return diff_strategies(Subject(recording, recording.traces[0]),
                         {parse_strategy(a), parse_strategy(b)}, setup, {});
}

TEST(StrategiesDiff, AStrategyDoesNotPartFromItself) {
  const Recording recording = RecordingWriter().alloc(0, 8).free(0).alloc(0, 9).recording();
  const StrategiesDiff diff = diff_of(recording, "direct", "direct");
  EXPECT_EQ(diff.first(), nullptr);
  EXPECT_FALSE(diff.lead);
  EXPECT_FALSE(diff.allocated_from);
}

// One gives back what is freed, the other keeps it.
TEST(StrategiesDiff, NamesTheFirstEventWithOtherReservedBytes) {
  const Recording recording =
      RecordingWriter().alloc(0, 8).alloc(1, 4).free(1).alloc(1, 4).free(0).free(1).recording();
  const StrategiesDiff diff = diff_of(recording, "direct", "free-list");
  ASSERT_TRUE(diff.reserved);
  EXPECT_EQ(diff.reserved->event, 2u);
  EXPECT_EQ(diff.reserved->op, Op::free);
  EXPECT_EQ(diff.reserved->holds[0].reserved, 8u);
  EXPECT_EQ(diff.reserved->holds[1].reserved, 12u);
  EXPECT_EQ(diff.reserved->holds[1].free, 4u);
  EXPECT_EQ(diff.first(), &*diff.reserved);
}

TEST(StrategiesDiff, NamesWhoReservesMoreAndWhereMost) {
  const Recording recording =
      RecordingWriter().alloc(0, 8).alloc(1, 4).free(1).alloc(1, 4).free(0).free(1).recording();
  const StrategiesDiff diff = diff_of(recording, "direct", "free-list");
  ASSERT_TRUE(diff.lead);
  EXPECT_EQ(diff.lead->more, 1u);
  EXPECT_EQ(diff.lead->from, 4u);
  EXPECT_EQ(diff.lead->to, 6u);
  EXPECT_EQ(diff.lead->furthest.event, 5u);
  EXPECT_EQ(diff.lead->difference(), 12u);
  EXPECT_EQ(diff.events_b_more, 3u);
  EXPECT_EQ(diff.events_a_more, 0u);
}

TEST(StrategiesDiff, NamesTheFirstRequestThatOnlyOneServes) {
  const Recording recording =
      RecordingWriter().alloc(0, 600).alloc(1, 300).free(0).alloc(0, 650).recording();
  const StrategiesDiff diff = diff_of(recording, "direct", "free-list", 1000);
  ASSERT_TRUE(diff.served);
  EXPECT_EQ(diff.served->event, 3u);
  EXPECT_FALSE(diff.served->holds[0].refused);
  EXPECT_TRUE(diff.served->holds[1].refused);
  EXPECT_EQ(diff.served->size, 650u);
}

TEST(StrategiesDiff, TheRequestIsNamedWithItsPlaceAndStep) {
  RecordingWriter writer;
  writer.alloc(0, 8).free(0).add(Op::marker, kNoSlot, 0);
  writer.alloc(0, 600, writer.stack({"a.py:7 f"}));
  const Recording recording = writer.recording();
  const StrategiesDiff diff = diff_of(recording, "direct", "bump:size=500");
  ASSERT_TRUE(diff.served);
  EXPECT_EQ(diff.served->place, "a.py:7 f");
  EXPECT_EQ(diff.served->step, 2u);
}

// On the device of the recording its own strategy reserves what was recorded.
TEST(StrategiesDiff, TheRunsAreThoseOfAReplay) {
  const Recording recording = read_recording(MEMREPLAY_TRACES "/torch/seq_growth.pickle");
  const StrategiesDiff diff =
      diff_of(recording, "recorded", "torch:expandable_segments=True", 4000 * kMiB);
  EXPECT_EQ(diff.runs[0].metrics.peak_reserved, recorded_peak_reserved(recording.traces[0]));
  ASSERT_TRUE(diff.lead);
  EXPECT_EQ(diff.lead->more, 0u);
}

// What came before is not recorded: each is judged by the replay that comes nearest.
TEST(StrategiesDiff, OfALateRecordingTheRunsAreEstimates) {
  const Recording late = read_recording(MEMREPLAY_TRACES "/torch/warm_ring.pickle");
  const StrategiesDiff diff = diff_strategies(
      Subject(late, late.traces[0]),
      {parse_strategy("torch"), parse_strategy("torch:expandable_segments=True")}, {}, {});
  EXPECT_TRUE(diff.finished);
  EXPECT_TRUE(diff.runs[1].interval);
  EXPECT_FALSE(diff.runs[1].exact);
}

}  // namespace
}  // namespace memreplay

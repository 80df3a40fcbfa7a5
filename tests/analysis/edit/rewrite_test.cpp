#include "analysis/edit/rewrite.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

#include "analysis/edit/programs.hpp"
#include "trace/gate.hpp"

namespace memreplay {
namespace {

using Events = std::vector<std::uint64_t>;

/// What a rewrite makes of a program; blocks by their birth.
template <typename Change>
Rewritten rewritten(const Recording& recording, Change change) {
  const Trace& trace = recording.traces.front();
  const BlockLives lives = lives_of(trace);
  Rewrite rewrite(trace, lives);
  change(rewrite);
  Rewritten written = rewrite.write();
  EXPECT_FALSE(fault_in(written.trace));
  return written;
}

Recording three_blocks() {
  return ProgramWriter().at({"a.py:1 f"}).ask(8).ask(4).free(8).ask(2).free(4).free(2).recording();
}

TEST(Rewrite, WithoutAChangeTheEventsStay) {
  const Recording recording = three_blocks();
  const Rewritten written = rewritten(recording, [](Rewrite&) {});
  const Trace& trace = recording.traces.front();
  EXPECT_EQ(told(written.trace), told(trace));
  EXPECT_EQ(written.trace.times_us, trace.times_us);
  EXPECT_EQ(written.trace.stacks, trace.stacks);
  EXPECT_EQ(written.now, (Events{0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(written.kept, std::vector<bool>(6, true));
}

TEST(Rewrite, AFreeMovesToItsSpot) {
  const Recording recording = three_blocks();
  const Rewritten written =
      rewritten(recording, [](Rewrite& rewrite) { rewrite.free_at(1, {.before = 2}); });
  EXPECT_EQ(told(written.trace), "+8 +4 -4 -8 +2 -2");
  EXPECT_EQ(written.now, (Events{0, 1, 3, 4, 5, 5, 6}));
  EXPECT_EQ(written.kept, (std::vector<bool>{true, true, true, true, false, true}));
}

TEST(Rewrite, AtOnePlaceTheLowerOrderComesFirst) {
  const Recording recording = three_blocks();
  const Rewritten written = rewritten(recording, [](Rewrite& rewrite) {
    rewrite.free_at(0, {.before = 4, .order = 2});
    rewrite.free_at(1, {.before = 4, .order = 1});
    rewrite.free_at(2, {.before = 4, .order = 1});
  });
  EXPECT_EQ(told(written.trace), "+8 +4 +2 -4 -2 -8");
}

TEST(Rewrite, WhatIsKeptForeverIsNotFreed) {
  const Recording recording = three_blocks();
  EXPECT_EQ(told(rewritten(recording, [](Rewrite& rewrite) { rewrite.keep_forever(0); }).trace),
            "+8 +4 +2 -4 -2");
}

TEST(Rewrite, WhatIsDroppedHasNoEvents) {
  const Recording recording = three_blocks();
  const Rewritten written = rewritten(recording, [](Rewrite& rewrite) { rewrite.drop(1); });
  EXPECT_EQ(told(written.trace), "+8 -8 +2 -2");
  EXPECT_EQ(written.now, (Events{0, 1, 1, 2, 3, 3, 4}));
}

TEST(Rewrite, ASizeIsThatOfAllItsEvents) {
  const Recording recording = three_blocks();
  EXPECT_EQ(told(rewritten(recording, [](Rewrite& rewrite) { rewrite.resize(0, 7); }).trace),
            "+7 +4 -7 +2 -4 -2");
}

TEST(Rewrite, AFurtherBlockHasTheCallerOfTheOneThatItIsLike) {
  const Recording recording = three_blocks();
  const Rewritten written = rewritten(recording, [](Rewrite& rewrite) {
    const std::uint32_t copy = rewrite.add(0, 9, {.before = 4});
    rewrite.free_at(copy, {.before = 5});
    rewrite.add(0, 7, {.before = 6});
  });
  EXPECT_EQ(told(written.trace), "+8 +4 -8 +2 +9 -4 -9 -2 +7");
  EXPECT_EQ(written.trace.stacks[4], recording.traces.front().stacks[0]);
  EXPECT_EQ(written.trace.times_us[4], 4) << "told at the time of the place";
}

TEST(Rewrite, SlotsAreTheFewestThatDo) {
  const Recording recording = three_blocks();
  const Rewritten written =
      rewritten(recording, [](Rewrite& rewrite) { rewrite.free_at(1, {.before = 2}); });
  EXPECT_EQ(recording.traces.front().slot_count, 3u);
  EXPECT_EQ(written.trace.slot_count, 2u);
  const BlockLives lives = lives_of(written.trace);
  EXPECT_EQ(lives.blocks.size(), 3u);
}

TEST(Rewrite, ABlockThatAnotherStreamUsedIsFreeAtItsSpotToo) {
  const Recording recording =
      ProgramWriter().ask(8).ask(4).request_free(8).ask(2).complete_free(8).recording();
  EXPECT_EQ(told(rewritten(recording, [](Rewrite&) {}).trace), "+8 +4 ?8 +2 !8");
  EXPECT_EQ(
      told(rewritten(recording, [](Rewrite& rewrite) { rewrite.free_at(0, {.before = 1}); }).trace),
      "+8 -8 +4 +2");
}

TEST(Rewrite, EventsOfTheDriverAndWhatTheAllocatorDidAreLeftOut) {
  Recording recording =
      RecordingWriter().add(Op::segment_alloc, kNoSlot, 2 * kMiB).alloc(0, 8).free(0).recording();
  recording.traces.front().addresses = {0, 0, 0};
  const Rewritten written = rewritten(recording, [](Rewrite&) {});
  EXPECT_EQ(told(written.trace), "+8 -8");
  EXPECT_EQ(written.now, (Events{0, 0, 1, 2}));
  EXPECT_TRUE(written.trace.addresses.empty());
}

TEST(Rewrite, BlocksFromBeforeTheFirstEventMayEndAndShrink) {
  Recording recording = RecordingWriter().alloc(0, 8).alloc(1, 4).recording();
  start_with(recording.traces.front(), 2, 5);
  start_with(recording.traces.front(), 3, 6);
  const Rewritten written = rewritten(recording, [](Rewrite& rewrite) {
    rewrite.free_at(0, {.before = 1});
    rewrite.resize(1, 3);
  });
  EXPECT_EQ(told(written.trace), "+8 -5 +4");
  EXPECT_EQ(written.trace.start.segments[0].blocks[0].requested, 5u);
  EXPECT_EQ(written.trace.start.segments[1].blocks[0].requested, 3u);
}

TEST(Rewrite, AFreeBeforeTheBirthIsAMistakeOfTheCaller) {
  const Recording recording = three_blocks();
  EXPECT_THROW(rewritten(recording, [](Rewrite& rewrite) { rewrite.free_at(1, {.before = 1}); }),
               std::logic_error);
  EXPECT_THROW(rewritten(recording,
                         [](Rewrite& rewrite) {
                           const std::uint32_t copy = rewrite.add(1, 4, {.before = 3, .order = 1});
                           rewrite.free_at(copy, {.before = 3, .order = 0});
                         }),
               std::logic_error);
}

}  // namespace
}  // namespace memreplay

#include "program/rewrite.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <stdexcept>

#include "support/programs.hpp"
#include "trace/gate.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

/// Four blocks, the first of which another stream used; what is left of them without the second.
struct WithoutTheSecond {
  Recording recording = ProgramWriter()
                            .ask(8)
                            .ask(4)
                            .request_free(8)
                            .complete_free(8)
                            .free(4)
                            .ask(2)
                            .ask(1)
                            .recording();
  Rewritten written = rewritten();

  Rewritten rewritten() const {
    const Trace& trace = recording.traces.front();
    const BlockLives lives = lives_of(trace);
    Rewrite rewrite(trace, lives);
    rewrite.drop(1);
    return rewrite.write();
  }
};

TEST(MadeRecording, AReadingIsNumberedAsTheNewEvents) {
  const WithoutTheSecond made;
  Reading reading;
  reading.calls = {{.event = 1}, {.event = 5}, {.event = 7}};
  reading.settings_calls = {{.event = 4}, {.event = 6}};
  reading.deferrals = {{.event = 3, .due = 6}};
  reading.block_sizes = {{.event = 0, .size = 1024}};
  const Reading renumbered = memreplay::renumbered(reading, made.written);
  ASSERT_EQ(renumbered.calls.size(), 3u);
  EXPECT_EQ(renumbered.calls[0].event, 1u);
  EXPECT_EQ(renumbered.calls[1].event, 3u);
  EXPECT_EQ(renumbered.calls[2].event, 5u) << "behind the last";
  EXPECT_EQ(renumbered.settings_calls, (std::vector<SettingsCall>{{.event = 3}, {.event = 4}}));
  EXPECT_EQ(renumbered.deferrals, (std::vector<Deferral>{{.event = 2, .due = 4}}));
  EXPECT_TRUE(renumbered.block_sizes.empty());
}

TEST(MadeRecording, ACompletionThatNeverComesByItselfStaysSo) {
  const WithoutTheSecond made;
  Reading reading;
  reading.deferrals = {{.event = 3, .due = UINT64_MAX}};
  EXPECT_EQ(renumbered(reading, made.written).deferrals,
            (std::vector<Deferral>{{.event = 2, .due = UINT64_MAX}}));
}

TEST(MadeRecording, WhatIsLeftOutIsNotDeferred) {
  const WithoutTheSecond made;
  Reading reading;
  reading.deferrals = {{.event = 4, .due = 6}};
  EXPECT_TRUE(renumbered(reading, made.written).deferrals.empty());
}

TEST(MadeRecording, ItIsTheRecordingWithAnotherTrace) {
  const WithoutTheSecond without;
  const Subject subject(without.recording, without.recording.traces.front());
  const MadeRecording made = made_recording(subject, without.rewritten(), "it was edited");
  EXPECT_EQ(told(made.trace()), "+8 ?8 !8 +2 +1");
  EXPECT_EQ(made.recording.path, without.recording.path);
  EXPECT_EQ(made.recording.stacks, without.recording.stacks);
  EXPECT_EQ(made.origin->why_inexact, "it was edited");
  EXPECT_FALSE(made.origin->verified) << "not one of PyTorch's allocator";
}

TEST(MadeRecording, ItKeepsTheVerificationAndTheRoomOfItsOrigin) {
  const Recording recording =
      read_recording(std::filesystem::path(MEMREPLAY_TRACES) / "torch" / "gpt_train_oom.pickle");
  const Subject subject(recording, recording.traces.front());
  const BlockLives lives = lives_of(subject.trace());
  Rewrite rewrite(subject.trace(), lives);
  const MadeRecording made = made_recording(subject, rewrite.write(), "");
  ASSERT_TRUE(made.origin->verified);
  EXPECT_EQ(made.origin->verified->verdict, Verdict::exact);
  ASSERT_TRUE(made.origin->room);
  EXPECT_TRUE(made.origin->room->stated);
  const Subject again(made.recording, made.trace(), made.origin);
  EXPECT_EQ(again.origin(), made.origin.get());
  ASSERT_NE(again.verified(), nullptr);
  EXPECT_EQ(again.with_release(parse_strategy("recorded")).release,
            subject.with_release(parse_strategy("recorded")).release);
}

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

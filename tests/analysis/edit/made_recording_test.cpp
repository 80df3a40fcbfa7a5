#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/edit/programs.hpp"
#include "analysis/edit/rewrite.hpp"
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

}  // namespace
}  // namespace memreplay

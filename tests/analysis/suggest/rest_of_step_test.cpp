#include "analysis/suggest/rest_of_step.hpp"

#include <gtest/gtest.h>

#include "analysis/edit/programs.hpp"

namespace memreplay {
namespace {

constexpr Bytes kFirst = 100;
constexpr Bytes kRequests = 20;

/// Each step asks for blocks of growing size, then frees them in that order. The second one is
/// refused its block number `refused`.
Recording failed_at(Bytes refused) {
  ProgramWriter program;
  const auto step = [&](Bytes until) {
    for (Bytes i = 0; i < until; ++i) program.at({"train.py:5 step"}).ask(kFirst + i);
  };
  step(kRequests);
  for (Bytes i = 0; i < kRequests; ++i) program.free(kFirst + i);
  step(refused);
  program.die(kFirst + refused);
  return program.recording();
}

TEST(RestOfStep, GoesOnAsTheStepBefore) {
  const Recording recording = failed_at(17);
  const Trace& trace = recording.traces.front();
  const auto made = with_rest_of_step(Subject(recording, trace));
  ASSERT_TRUE(made);
  // Three more blocks behind the refused request, then all are freed.
  const BlockLives lives = lives_of(made->trace());
  EXPECT_EQ(allocations_of(made->trace()).size(), allocations_of(trace).size() + 3);
  EXPECT_EQ(lives.blocks.back().size, kFirst + 19);
  for (const BlockLife& life : lives.blocks) EXPECT_NE(life.freed, BlockLife::kNever) << life.size;
}

TEST(RestOfStep, AFailureInTheFirstStepHasNoneBefore) {
  ProgramWriter program;
  for (Bytes i = 0; i < 40; ++i) program.at({"train.py:5 step"}).ask(kFirst + i);
  program.die(1);
  const Recording recording = program.recording();
  EXPECT_FALSE(with_rest_of_step(Subject(recording, recording.traces.front())));
}

TEST(RestOfStep, AFewRequestsInCommonAreNoStep) {
  const Recording recording = failed_at(10);
  EXPECT_FALSE(with_rest_of_step(Subject(recording, recording.traces.front())));
}

TEST(RestOfStep, ARecordingThatDidNotFailIsWhole) {
  const Recording recording = two_layers().recording();
  EXPECT_FALSE(with_rest_of_step(Subject(recording, recording.traces.front())));
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include "analysis/recordings.hpp"
#include "analysis/run/question.hpp"

namespace memreplay {
namespace {

/// Two blocks of so many MiB each, the first one freed before the second is asked for, or not.
MadeRecording two_blocks(Bytes mebibytes, bool apart) {
  RecordingWriter writer;
  writer.alloc(0, mebibytes * kMiB);
  if (apart) writer.free(0);
  writer.alloc(1, mebibytes * kMiB);
  return {.recording = writer.recording(), .origin = std::make_shared<const Origin>()};
}

/// The likeliest one's run under the usual strategy, beside the others.
Run run_of(const MadeRecordings& made) {
  return run_with_others(made, parse_strategy("torch"), simulated({}), {}, {});
}

TEST(MadeInterval, WithoutOthersThereIsNone) {
  EXPECT_FALSE(run_of({.likeliest = two_blocks(20, true), .others = {}, .edits = {}}).interval);
}

TEST(MadeInterval, ItSpansWhatTheOthersComeTo) {
  MadeRecordings made{.likeliest = two_blocks(30, true), .others = {}, .edits = {}};
  made.others.push_back(two_blocks(30, false));
  made.others.push_back(two_blocks(20, true));
  const memreplay::Run run = run_of(made);
  ASSERT_TRUE(run.interval);
  ASSERT_TRUE(run.interval->peak_requested);
  EXPECT_EQ(run.interval->peak_requested->low, 20 * kMiB);
  EXPECT_EQ(run.interval->peak_requested->high, 60 * kMiB);
  EXPECT_EQ(run.interval->peak_reserved.low, 20 * kMiB);
  EXPECT_EQ(run.interval->peak_reserved.high, 60 * kMiB);
  EXPECT_EQ(run.interval->end_reserved.low, 20 * kMiB);
  EXPECT_EQ(run.interval->end_reserved.high, 60 * kMiB);
}

TEST(MadeInterval, TheFiguresStayThoseOfTheLikeliest) {
  MadeRecordings made{.likeliest = two_blocks(30, true), .others = {}, .edits = {}};
  made.others.push_back(two_blocks(30, false));
  const memreplay::Run alone =
      run_made(made.likeliest, parse_strategy("torch"), simulated({}), {}, {});
  const memreplay::Run run = run_of(made);
  EXPECT_EQ(run.metrics.peak_reserved, alone.metrics.peak_reserved);
  EXPECT_EQ(run.metrics.peak_requested, 30 * kMiB);
  EXPECT_FALSE(alone.interval);
}

TEST(MadeInterval, OthersThatComeToTheSameMakeItNarrow) {
  MadeRecordings made{.likeliest = two_blocks(30, true), .others = {}, .edits = {}};
  made.others.push_back(two_blocks(30, true));
  const memreplay::Run run = run_of(made);
  ASSERT_TRUE(run.interval);
  EXPECT_EQ(run.interval->peak_reserved.low, run.interval->peak_reserved.high);
}

}  // namespace
}  // namespace memreplay

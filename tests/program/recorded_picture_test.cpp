#include <gtest/gtest.h>

#include "program/summary.hpp"
#include "support/recordings.hpp"

namespace memreplay {
namespace {

TEST(RecordedPicture, ShowsWhatWasRequestedAndHeld) {
  const Recording recording = RecordingWriter()
                                  .add(Op::segment_alloc, kNoSlot, 2000)
                                  .alloc(0, 1500)
                                  .free(0)
                                  .add(Op::segment_free, kNoSlot, 2000)
                                  .recording();
  const RunPicture picture = recorded_picture(recording.traces[0], 100);
  EXPECT_EQ(picture.to, 4u);
  EXPECT_EQ(picture.allocated, (std::vector<CurvePoint>{{0, 0, 0}, {2, 1500, 2000}, {3, 0, 2000}}));
  EXPECT_EQ(picture.reserved, (std::vector<CurvePoint>{{0, 0, 0}, {1, 2000, 0}, {4, 0, 0}}));
}

TEST(RecordedPicture, WhereNothingSaysWhatWasHeldThatCurveIsEmpty) {
  const Recording recording = RecordingWriter().alloc(0, 1500).recording();
  EXPECT_TRUE(recorded_picture(recording.traces[0], 100).reserved.empty());
}

TEST(RecordedPicture, RefusedRequestsAreMarked) {
  const Recording recording =
      RecordingWriter().alloc(0, 1500).add(Op::oom, kNoSlot, 9000).recording();
  const RunPicture picture = recorded_picture(recording.traces[0], 100);
  ASSERT_EQ(picture.ooms.size(), 1u);
  EXPECT_EQ(picture.ooms.front().event, 1u);
  EXPECT_EQ(picture.ooms.front().requested, 9000u);
}

}  // namespace
}  // namespace memreplay

#include "trace/recorded_levels.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

TEST(Peaks, OfALongReservedPeakTheFirstMomentWithMostLiveCounts) {
  Peaks peaks;
  peaks.note({}, 10, 60);
  peaks.note(0, 40, 60);
  peaks.note(1, 50, 60);
  peaks.note(2, 50, 60);
  peaks.note(3, 20, 60);
  EXPECT_EQ(peaks.reserved().event, 1u);
  EXPECT_EQ(peaks.reserved().requested, 50u);
}

TEST(Peaks, TheLivePeakIsTheFirstOfSeveral) {
  Peaks peaks;
  peaks.note({}, 0, 0);
  peaks.note(0, 30, 40);
  peaks.note(1, 20, 50);
  peaks.note(2, 30, 50);
  EXPECT_EQ(peaks.live().event, 0u);
  EXPECT_EQ(peaks.live().reserved, 40u);
  EXPECT_EQ(peaks.reserved().event, 2u);
}

TEST(Peaks, BeforeTheFirstEventMayBeOne) {
  Peaks peaks;
  peaks.note({}, 30, 40);
  peaks.note(0, 20, 40);
  EXPECT_FALSE(peaks.live().event);
  EXPECT_FALSE(peaks.reserved().event);
}

}  // namespace
}  // namespace memreplay

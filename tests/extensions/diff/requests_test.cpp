#include "extensions/diff/requests.hpp"

#include <gtest/gtest.h>

#include "program/steps.hpp"
#include "support/recordings.hpp"

namespace memreplay {
namespace {

RequestsDiff diff_of(const Recording& a, const Recording& b) {
  const RecordedTrace in_a{a, a.traces[0]};
  const RecordedTrace in_b{b, b.traces[0]};
  return diff_requests(CommonPlaces(in_a, in_b), in_a, steps_of(a, a.traces[0]), in_b,
                       steps_of(b, b.traces[0]));
}

TEST(RequestsDiff, TheSameRequestsInOtherSlotsAreTheSame) {
  const RequestsDiff diff = diff_of(RecordingWriter().alloc(0, 8).alloc(1, 4).free(0).recording(),
                                    RecordingWriter().alloc(3, 8).alloc(0, 4).free(3).recording());
  EXPECT_FALSE(diff.first);
  EXPECT_TRUE(diff.same_frees);
}

TEST(RequestsDiff, AnotherOrderOfFreesIsSeen) {
  const RequestsDiff diff =
      diff_of(RecordingWriter().alloc(0, 8).alloc(1, 8).free(0).free(1).recording(),
              RecordingWriter().alloc(0, 8).alloc(1, 8).free(1).free(0).recording());
  EXPECT_FALSE(diff.first);
  EXPECT_FALSE(diff.same_frees);
}

TEST(RequestsDiff, NamesTheFirstOfAnotherSize) {
  const RequestsDiff diff = diff_of(RecordingWriter().alloc(0, 8).free(0).alloc(0, 4).recording(),
                                    RecordingWriter().alloc(0, 8).free(0).alloc(0, 5).recording());
  ASSERT_TRUE(diff.first);
  EXPECT_EQ(diff.first->number, 2u);
  EXPECT_EQ(diff.first->step, 0u);
  EXPECT_EQ(diff.first->a->event, 2u);
  EXPECT_EQ(diff.first->a->size, 4u);
  EXPECT_EQ(diff.first->b->size, 5u);
}

TEST(RequestsDiff, NamesTheFirstFromAnotherPlace) {
  RecordingWriter a;
  a.alloc(0, 8, a.stack({"a.py:1 f"}));
  RecordingWriter b;
  b.alloc(0, 8, b.stack({"b.py:2 g"}));
  const RequestsDiff diff = diff_of(a.recording(), b.recording());
  ASSERT_TRUE(diff.first);
  EXPECT_EQ(diff.first->a->place, "a.py:1 f");
  EXPECT_EQ(diff.first->b->place, "b.py:2 g");
}

TEST(RequestsDiff, ARequestWithoutAStackMayComeFromAnyPlace) {
  RecordingWriter a;
  const std::uint32_t stack = a.stack({"a.py:1 f"});
  a.alloc(0, 8, stack).alloc(1, 4, stack);
  RecordingWriter b;
  b.alloc(0, 8, b.stack({"a.py:1 f"})).alloc(1, 4);
  EXPECT_FALSE(diff_of(a.recording(), b.recording()).first);
}

TEST(RequestsDiff, ARequestThatWasRefusedIsAnother) {
  const RequestsDiff diff = diff_of(RecordingWriter().alloc(0, 8).recording(),
                                    RecordingWriter().add(Op::oom, kNoSlot, 8).recording());
  ASSERT_TRUE(diff.first);
  EXPECT_FALSE(diff.first->a->refused);
  EXPECT_TRUE(diff.first->b->refused);
}

TEST(RequestsDiff, WhereOneEndsTheOtherGoesOnAlone) {
  const RequestsDiff diff = diff_of(RecordingWriter().alloc(0, 8).recording(),
                                    RecordingWriter().alloc(0, 8).alloc(1, 8).recording());
  ASSERT_TRUE(diff.first);
  EXPECT_FALSE(diff.first->a);
  EXPECT_EQ(diff.first->b->event, 1u);
}

// A request more in the first step shifts nothing in the next ones.
TEST(RequestsDiff, StepsAreLaidSideBySide) {
  RecordingWriter a;
  a.alloc(0, 8).add(Op::marker, kNoSlot, 0).alloc(1, 4).alloc(2, 4);
  RecordingWriter b;
  b.alloc(0, 8).alloc(3, 8).add(Op::marker, kNoSlot, 0).alloc(1, 4).alloc(2, 6);
  const RequestsDiff diff = diff_of(a.recording(), b.recording());
  ASSERT_TRUE(diff.first);
  EXPECT_EQ(diff.first->step, 1u);
  EXPECT_EQ(diff.first->number, 2u);
  ASSERT_TRUE(diff.first_in_equal_step);
  EXPECT_EQ(diff.first_in_equal_step->step, 2u);
  EXPECT_EQ(diff.first_in_equal_step->number, 2u);
  EXPECT_EQ(diff.first_in_equal_step->b->size, 6u);
}

}  // namespace
}  // namespace memreplay

#include "extensions/stress/order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "replay/program.hpp"
#include "support/recordings.hpp"
#include "trace/gate.hpp"

namespace memreplay {
namespace {

TEST(ToleranceBound, TheLargestOfFewValuesHasTheConfidenceOfWilks) {
  const ToleranceBound bound = tolerance_bound(1000, 0.999, 0.95);
  EXPECT_EQ(bound.above, 0u);
  EXPECT_NEAR(bound.confidence, 1 - std::pow(0.999, 1000), 1e-12);
}

TEST(ToleranceBound, TheTablesOfTheMethodAreMet) {
  // 95 % of all with 95 % confidence: 59 values for the largest, 93 for the second.
  EXPECT_LT(tolerance_bound(58, 0.95, 0.95).confidence, 0.95);
  EXPECT_GE(tolerance_bound(59, 0.95, 0.95).confidence, 0.95);
  EXPECT_EQ(tolerance_bound(92, 0.95, 0.95).above, 0u);
  EXPECT_EQ(tolerance_bound(93, 0.95, 0.95).above, 1u);
  EXPECT_EQ(tolerance_bound(124, 0.95, 0.95).above, 2u);
}

TEST(ToleranceBound, OfManyValuesItIsNearTheQuantile) {
  const ToleranceBound bound = tolerance_bound(10'000'000, 0.999, 0.99);
  EXPECT_GT(bound.above, 9'600u);
  EXPECT_LT(bound.above, 10'000u);
  EXPECT_GE(bound.confidence, 0.99);
}

TEST(ToleranceBound, OneValueBoundsNextToNothing) {
  EXPECT_NEAR(tolerance_bound(1, 0.999, 0.99).confidence, 0.001, 1e-12);
}

/// A recording with its work, and orders of it in words: "+100 -100" asks for and frees.
class Orders {
 public:
  Orders(const Recording& recording, const std::vector<std::uint64_t>& begins)
      : recording_(recording),
        subject_(recording_, recording_.traces[0]),
        program_(program_of(subject_)),
        work_(work_of(program_, subject_.trace(), begins)) {}

  const Work& work() const { return work_; }
  Work& work() { return work_; }

  std::string in_words(const Order& order, std::size_t at_once = 1) const {
    OrderWriter writer(work_, at_once);
    Draws draws(7);
    const Trace& trace = writer.write(order, draws);
    EXPECT_FALSE(fault_in(trace));
    std::string words;
    for (std::size_t i = 0; i < trace.size(); ++i) words += (i > 0 ? " " : "") + word(trace, i);
    return words;
  }
  std::string recorded() const { return in_words(recorded_order(work_)); }

 private:
  static std::string word(const Trace& trace, std::size_t event) {
    const std::string size = std::to_string(trace.sizes[event]);
    switch (trace.ops[event]) {
      case Op::allocate:
        return "+" + size;
      case Op::free:
        return "-" + size;
      case Op::free_requested:
        return "?" + size;
      case Op::free_completed:
        return "!" + size;
      case Op::oom:
        return "x" + size;
      default:
        return "|";
    }
  }

  Recording recording_;
  Subject subject_;
  Program program_;
  Work work_;
};

Recording two_plain_steps() {
  return RecordingWriter().alloc(0, 10).free(0).alloc(0, 20).free(0).recording();
}

TEST(OrderWriter, PlaysTheStepsInTheOrderGivenAsOftenAsTheyAreNamed) {
  const Orders orders(two_plain_steps(), {0, 2});
  EXPECT_EQ(orders.recorded(), "+10 -10 +20 -20");
  EXPECT_EQ(orders.in_words({1, 0}), "+20 -20 +10 -10");
  EXPECT_EQ(orders.in_words({1, 1}), "+20 -20 +20 -20");
}

TEST(OrderWriter, WhatIsBeforeTheStepsComesFirst) {
  const Orders orders(
      RecordingWriter().alloc(9, 1000).alloc(0, 10).free(0).alloc(0, 20).free(0).recording(),
      {1, 3});
  EXPECT_EQ(orders.in_words({1, 0}), "+1000 +20 -20 +10 -10");
}

TEST(OrderWriter, ABlockThatOutlivesItsStepIsFreedAsManyStepsLater) {
  const Orders orders(RecordingWriter()
                          .alloc(0, 10)
                          .alloc(1, 11)
                          .free(0)
                          .alloc(0, 20)
                          .free(1)
                          .free(0)
                          .alloc(0, 30)
                          .free(0)
                          .recording(),
                      {0, 3, 6});
  EXPECT_EQ(orders.work().crossing_blocks, 1u);
  EXPECT_EQ(orders.recorded(), "+10 +11 -10 +20 -11 -20 +30 -30");
  EXPECT_EQ(orders.in_words({1, 0, 2}), "+20 -20 +10 +11 -10 +30 -11 -30");
  EXPECT_EQ(orders.in_words({0, 0, 2}), "+10 +11 -10 +10 -11 +11 -10 +30 -11 -30");
}

TEST(OrderWriter, WhereTheOrderEndsBeforeItLivesOn) {
  const Orders orders(RecordingWriter()
                          .alloc(0, 10)
                          .alloc(1, 11)
                          .free(0)
                          .alloc(0, 20)
                          .free(0)
                          .free(1)
                          .alloc(0, 30)
                          .free(0)
                          .recording(),
                      {0, 3, 6});
  EXPECT_EQ(orders.in_words({2, 1, 0}),
            "+30 -30 +20 -20 +10 +11 -10 -11");  // what comes after counts
  const Orders later(RecordingWriter()
                         .alloc(0, 10)
                         .alloc(1, 11)
                         .free(0)
                         .alloc(0, 20)
                         .free(0)
                         .alloc(0, 30)
                         .free(1)
                         .free(0)
                         .recording(),
                     {0, 3, 5});
  EXPECT_EQ(later.in_words({2, 1, 0}), "+30 -30 +20 -20 +10 +11 -10");
}

TEST(OrderWriter, WhatIsNeverFreedKeepsItsPlaceInTheOrder) {
  const Orders orders(RecordingWriter()
                          .alloc(0, 10)
                          .alloc(7, 777)
                          .free(0)
                          .alloc(0, 20)
                          .free(0)
                          .alloc(0, 30)
                          .free(0)
                          .recording(),
                      {0, 3, 5});
  EXPECT_EQ(orders.work().lasting_blocks, 1u);
  EXPECT_EQ(orders.in_words({2, 1, 0}), "+30 +777 -30 +20 -20 +10 -10");
  EXPECT_EQ(orders.in_words({2, 2, 2}), "+30 +777 -30 +30 -30 +30 -30");
}

TEST(OrderWriter, ABlockFromBeforeTheStepsIsFreedAtThePlaceOfItsFree) {
  const Orders orders(RecordingWriter()
                          .alloc(9, 1000)
                          .alloc(0, 10)
                          .free(0)
                          .alloc(0, 20)
                          .free(9)
                          .free(0)
                          .alloc(0, 30)
                          .free(0)
                          .recording(),
                      {1, 3, 6});
  EXPECT_EQ(orders.in_words({2, 0, 1}), "+1000 +30 -30 +10 -1000 -10 +20 -20");
}

TEST(OrderWriter, TheLastStepStaysWhereItsBlocksDoNotEnd) {
  const Orders orders(RecordingWriter()
                          .alloc(0, 10)
                          .free(0)
                          .alloc(0, 20)
                          .free(0)
                          .alloc(0, 30)
                          .alloc(1, 31)
                          .recording(),
                      {0, 2, 4});
  EXPECT_TRUE(orders.work().last_step_stays);
  EXPECT_EQ(orders.work().steps.size(), 2u);
  EXPECT_EQ(orders.in_words({1, 0}), "+20 -20 +10 -10 +30 +31");
}

TEST(OrderWriter, WhatAsksForNothingBehindTheLastStepIsTheEnd) {
  const Orders orders(RecordingWriter()
                          .alloc(9, 1000)
                          .alloc(0, 10)
                          .free(0)
                          .alloc(0, 20)
                          .free(0)
                          .free(9)
                          .recording(),
                      {1, 3, 5});
  EXPECT_FALSE(orders.work().last_step_stays);
  EXPECT_EQ(orders.in_words({1, 0}), "+1000 +20 -20 +10 -10 -1000");
}

TEST(OrderWriter, AFreeInTwoPartsMayBeCompletedInALaterStep) {
  RecordingWriter writer;
  writer.alloc(0, 10).add(Op::free_requested, 0, 10);
  writer.alloc(1, 20).add(Op::free_completed, 0, 10).free(1);
  writer.alloc(1, 30).free(1);
  const Orders orders(writer.recording(), {0, 2, 5});
  EXPECT_EQ(orders.recorded(), "+10 ?10 +20 !10 -20 +30 -30");
  EXPECT_EQ(orders.in_words({0, 2, 1}), "+10 ?10 +30 !10 -30 +20 -20");
  EXPECT_EQ(orders.in_words({1, 2, 0}), "+20 -20 +30 -30 +10 ?10 !10");
}

TEST(OrderWriter, ARefusedRequestIsMadeAgain) {
  RecordingWriter writer;
  writer.alloc(0, 10).add(Op::oom, kNoSlot, 900).free(0).alloc(0, 20).free(0);
  const Orders orders(writer.recording(), {0, 3});
  EXPECT_EQ(orders.in_words({1, 0}), "+20 -20 +10 x900 -10");
}

TEST(OrderWriter, StepsAtOnceTakeTurns) {
  RecordingWriter writer;
  for (int step = 0; step < 2; ++step) writer.alloc(0, 10).alloc(1, 11).free(1).free(0);
  const Orders orders(writer.recording(), {0, 4});
  std::string words = orders.in_words({0, 1}, 2);
  EXPECT_NE(words, orders.recorded());
  EXPECT_EQ(std::ranges::count(words, '+'), 4);
  EXPECT_EQ(std::ranges::count(words, '-'), 4);
}

TEST(AddSteps, StepsOfAnotherRecordingComeWithoutWhatItHoldsAllTheTime) {
  Orders orders(two_plain_steps(), {0, 2});
  const Orders other(RecordingWriter()
                         .alloc(9, 1000)
                         .alloc(0, 50)
                         .alloc(1, 51)
                         .free(0)
                         .alloc(0, 60)
                         .free(1)
                         .free(0)
                         .alloc(0, 70)
                         .free(0)
                         .free(9)
                         .recording(),
                     {1, 4, 7});
  EXPECT_EQ(add_steps(other.work(), orders.work()), 3u);
  EXPECT_EQ(orders.recorded(), "+10 -10 +20 -20");
  EXPECT_EQ(orders.in_words({2, 1, 4}), "+50 +51 -50 +20 -51 -20 +70 -70");
  EXPECT_EQ(orders.in_words({2, 3}), "+50 +51 -50 +60 -51 -60");
}

TEST(DrawOrder, HalfOfTheOrdersHaveEveryStep) {
  Draws draws(1);
  int permuted = 0;
  for (int i = 0; i < 1000; ++i) {
    Order order = draw_order(20, 20, draws);
    std::ranges::sort(order);
    permuted += std::ranges::adjacent_find(order) == order.end() ? 1 : 0;
  }
  EXPECT_GT(permuted, 430);
  EXPECT_LT(permuted, 570);
}

TEST(DrawOrder, IsTheSameForTheSameNumbers) {
  Draws draws(5);
  Draws again(5);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(draw_order(9, 9, draws), draw_order(9, 9, again));
}

TEST(Parts, BeginAtTheLowestPointBetweenBusyStretches) {
  const Recording recording = RecordingWriter()
                                  .alloc(9, 5000)  // stays
                                  .alloc(0, 160)
                                  .alloc(1, 2)
                                  .free(0)
                                  .free(1)
                                  .alloc(1, 1)
                                  .alloc(0, 320)
                                  .free(0)
                                  .free(1)
                                  .recording();
  EXPECT_EQ(begins_where_little_lives(program_of(recording.traces[0], nullptr)),
            (std::vector<std::uint64_t>{1, 5}));
}

}  // namespace

}  // namespace memreplay

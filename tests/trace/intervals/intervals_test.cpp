#include "trace/intervals/intervals.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "trace/beginnings.hpp"
#include "trace/drawn_events.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;

Trace trace_of(const std::string& text) {
  return intervals_reader().read({"log", text}, {}).traces.at(0);
}

std::string refused(const std::string& text) { return refusal(intervals_reader(), text); }

TEST(IntervalsReader, LifetimesBecomeEventsInTheOrderOfTime) {
  const Trace trace = trace_of("0 9 100\n2 5 200\n\n5\t7  300\n");
  EXPECT_EQ(drawn_events(trace), "a0:100 a1:200 f1:200 a1:300 f1:300 f0:100");
  EXPECT_THAT(trace.ids, testing::ElementsAre(0, 1, 1, 2, 2, 0));
}

TEST(IntervalsReader, WhatIsNeverLiveIsCountedWithItsFirstPlace) {
  const Trace trace = trace_of("0 9 100\n3 3 200\n4 4 200\n1 2 0\n");
  EXPECT_EQ(drawn_events(trace), "a0:100 f0:100");
  EXPECT_EQ(trace.coverage.dropped.at("buffers that are never live"), 2u);
  EXPECT_EQ(trace.coverage.first_places.at("buffers that are never live"), "line 2");
  EXPECT_EQ(trace.coverage.first_places.at("buffers of size 0"), "line 4");
}

TEST(IntervalsReader, WhatIsNoLifetimeIsRefusedByItsLine) {
  EXPECT_THAT(refused("0 9 100\n0 9\n"), HasSubstr("log:2: a line is '0 9'"));
  EXPECT_THAT(refused("0 9 100 1\n"), HasSubstr("log:1: a line is"));
  EXPECT_THAT(refused("9 0 100\n"), HasSubstr("log:1: an end is '0'; expected one that is not"));
  EXPECT_THAT(refused("-1 9 100\n"), HasSubstr("log:1: a time is '-1'"));
  EXPECT_THAT(refused("0 9223372036854775808 1\n"), HasSubstr("below 2^63"));
}

}  // namespace
}  // namespace memreplay

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "trace/beginnings.hpp"
#include "trace/drawn_events.hpp"
#include "trace/readers.hpp"

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

/// What is read, or why it is refused.
std::string outcome(const std::string& text, Recording& recording) {
  try {
    recording = intervals_reader().read({"log", text}, {});
    return {};
  } catch (const InputError& error) {
    return error.what();
  }
}

// After the first line, plain numbers are read by a way of their own.
TEST(IntervalsReader, PlainLinesAreReadAsTheOthers) {
  const std::vector<std::string> words = {"0",
                                          "1",
                                          "2",
                                          "3",
                                          "12345678",
                                          "12",
                                          "07",
                                          "-1",
                                          "1.5",
                                          "9223372036854775807",
                                          "x",
                                          "",
                                          "0x4",
                                          " 5",
                                          "9223372036854775808",
                                          "999",
                                          "1152921504606846976"};
  std::mt19937 draw(2);
  int whole = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string plain;
    const std::size_t lines = 1 + draw() % 5;
    const bool odd = draw() % 2 == 0;
    for (std::size_t line = 0; line < lines; ++line) {
      for (int word = 0; word < 3; ++word) {
        plain += word == 0 ? "" : " ";
        plain += words[draw() % (odd ? words.size() : 6)];
      }
      plain += odd && draw() % 20 == 0 ? "\n\n" : "\n";
    }
    std::string other;
    for (const char c : plain) other += c == '\n' ? std::string("\r\n") : std::string(1, c);
    Recording recording;
    Recording expected;
    const std::string error = outcome(plain, recording);
    EXPECT_EQ(error, outcome(other, expected)) << plain;
    EXPECT_EQ(recording, expected) << plain;
    whole += error.empty();
  }
  EXPECT_GT(whole, 500);
}

}  // namespace
}  // namespace memreplay

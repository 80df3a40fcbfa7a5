#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "trace/drawn_events.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

Recording read(const std::string& text) { return read_recording("short.rep", text, {}); }

std::string refused(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(MalloclabReader, CallsAreReadByTheirIds) {
  const Recording recording =
      read("20000\n3\n7\n1\na 0 2040\na 1 48\nf 0\na 2 4072\nr 1 96\nf 2\nf 1\n");
  EXPECT_EQ(recording.format, "malloclab");
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:2040 a1:48 f0:2040 a0:4072 f1:48 a1:96 f0:4072 f1:96");
  EXPECT_EQ(trace.gpu, -1);
  EXPECT_TRUE(trace.coverage.complete);
}

TEST(MalloclabReader, TheHeaderMayStandInALineAndNullMayBeFreed) {
  const Trace trace = read("1 2 5 0\n\na 0 8\nr 1 16\nf -1\nf 1\nf 0\n").traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:8 a1:16 f1:16 f0:8");
  EXPECT_EQ(trace.coverage.dropped.at("frees of null"), 1u);
}

TEST(MalloclabReader, AHeaderOfTwoNumbersIsEnough) {
  EXPECT_EQ(drawn_events(read("2\n4\na 0 8\na 1 16\nf 1\nf 0\n").traces.at(0)),
            "a0:8 a1:16 f1:16 f0:8");
  const Trace trace = read("1\n1\n3\n1\nf -1\na 0 8\nf 0\n").traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:8 f0:8");
  EXPECT_EQ(trace.coverage.dropped.at("frees of null"), 1u);
}

TEST(MalloclabReader, WhatIsWrongIsToldByItsLine) {
  EXPECT_EQ(refused("1\n2\n3\n4\na 0 8\nb 0 8\nf 0\n"),
            "short.rep:6: a line is 'b 0 8'; expected 'a ID SIZE', 'r ID SIZE' or 'f ID'");
  EXPECT_NE(refused("1\n2\n3\n4\na 0 -8\nf 0\n").find("short.rep:5"), std::string::npos);
  EXPECT_NE(refused("1\na 0 8\n").find("no known format"), std::string::npos);
}

}  // namespace
}  // namespace memreplay

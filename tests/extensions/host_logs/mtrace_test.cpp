#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "trace/beginnings.hpp"
#include "trace/drawn_events.hpp"
#include "trace/readers.hpp"

namespace memreplay {
namespace {

using testing::HasSubstr;

Recording read(const std::string& lines) {
  return mtrace_reader().read({"log", "= Start\n" + lines}, {});
}

Trace trace_of(const std::string& lines) { return read(lines).traces.at(0); }

std::string refused(const std::string& line) {
  return refusal(mtrace_reader(), "= Start\n" + line + "\n");
}

TEST(MtraceReader, CallsAreReadWithTheirPlaces) {
  const Recording recording = read(
      "@ ./app:(build_index+3c)[0x11c] + 0x5581a0 0x40\n"
      "@ ./app:[0x13f] + 0x5581f0 0x100\n"
      "@ ./app:[0x151] < 0x5581a0\n"
      "@ ./app:[0x151] > 0x558300 0x80\n"
      "@ ./app:[0x160] - 0x5581f0\n"
      "= End\n");
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:64 a1:256 f0:64 a0:128 f1:256");
  EXPECT_EQ(trace.gpu, -1);
  EXPECT_EQ(recording.texts.at(trace.tags.at(0)), "./app:(build_index+3c)[0x11c]");
  EXPECT_EQ(recording.texts.at(trace.tags.at(3)), "./app:[0x151]");
  EXPECT_EQ(trace.tags.at(4), 0u);
  EXPECT_TRUE(trace.coverage.complete);
}

TEST(MtraceReader, APlaceMayHaveBlanksAndOperatorsInIt) {
  const Recording recording = read("@ ./my - app + 2:[0x151] + 0x10 0x8\n+ 0x20 0x9\n");
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:8 a1:9");
  EXPECT_EQ(recording.texts.at(trace.tags.at(0)), "./my - app + 2:[0x151]");
}

TEST(MtraceReader, WhatFailedLeavesItsBlock) {
  EXPECT_EQ(drawn_events(trace_of("+ (nil) 0x100\n+ 0x10 0x8\n! 0x10 0x200\n- 0x10\n")),
            "x:256 a0:8 x:512 f0:8");
  const Trace trace = trace_of("+ 0x10 0x8\n+ (nil) 0xffffffffffffffff\n");
  EXPECT_EQ(drawn_events(trace), "a0:8");
  EXPECT_EQ(trace.coverage.dropped.at("requests of 1 EiB and more, which failed"), 1u);
}

TEST(MtraceReader, ABlockMayGrowWhereItIs) {
  EXPECT_EQ(drawn_events(trace_of("+ 0x10 0x8\n< 0x10\n> 0x10 0x9\n")), "a0:8 f0:8 a0:9");
}

TEST(MtraceReader, WhatIsRepairedIsCountedWithItsFirstPlace) {
  const Trace trace = trace_of("+ 0x10 0\n- 0x10\n- 0x20\n+ 0x30 0x1\n+ 0x30 0x2\n");
  EXPECT_EQ(drawn_events(trace), "a0:1 f0:1 a0:2");
  EXPECT_EQ(trace.coverage.first_places,
            (std::map<std::string, std::string>{
                {"allocations of size 0", "line 2"},
                {"frees of blocks of size 0", "line 3"},
                {"frees of blocks that the log does not allocate", "line 4"},
                {"frees missing in the log", "line 6"}}));
}

TEST(MtraceReader, BehindTheEndAnythingMayStand) {
  EXPECT_EQ(drawn_events(trace_of("+ 0x10 0x8\n= End\nsome words\n")), "a0:8");
  EXPECT_EQ(drawn_events(trace_of("+ 0x10 0x8\n= End\n= Start\n- 0x10\n")), "a0:8 f0:8");
}

TEST(MtraceReader, ALogWhoseBeginningIsLostIsAnEstimate) {
  const Recording recording = mtrace_reader().read({"log", "+ 0x10 0x8\n- 0x10\n"}, {});
  EXPECT_EQ(recording.lacks.back(), "its beginning");
  EXPECT_FALSE(recording.traces.at(0).coverage.complete);
  EXPECT_TRUE(trace_of("+ 0x10 0x8\n").coverage.complete);
}

TEST(MtraceReader, AReallocationThatIsCutOffIsNone) {
  const Trace trace = trace_of("+ 0x10 0x8\n< 0x10\n");
  EXPECT_EQ(drawn_events(trace), "a0:8");
  EXPECT_EQ(trace.coverage.dropped.at("a last line that is cut off"), 1u);
}

TEST(MtraceReader, WhatIsNoCallIsRefusedByItsLine) {
  EXPECT_THAT(refused("some words"), HasSubstr("log:2: a line is 'some words'"));
  EXPECT_THAT(refused("+ 0x10 64"), HasSubstr("log:2: a size is '64'"));
  EXPECT_THAT(refused("+ 10 0x8"), HasSubstr("log:2: a pointer is '10'"));
  EXPECT_THAT(refused("> 0x10 0x8"), HasSubstr("a line with '>' after each with '<'"));
  EXPECT_THAT(refused("< 0x10\n- 0x10"), HasSubstr("log:3: a line is '- 0x10'"));
}

}  // namespace
}  // namespace memreplay

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "trace/beginnings.hpp"
#include "trace/drawn_events.hpp"
#include "trace/readers.hpp"

namespace memreplay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Recording read(const std::string& text, const std::string& name = "log") {
  return stalloc_reader().read({name, text}, {});
}

Trace trace_of(const std::string& text) { return read(text).traces.at(0); }

std::string refused(const std::string& text) { return refusal(stalloc_reader(), text); }

TEST(StallocReader, CallsAndMarksAreReadInTheirOrder) {
  const Recording recording = read(
      "Iteration Index : 0\n"
      "1 0x7e1000 4096 0\n"
      "1 0x7e2000 1048576 0x55d0\n"
      "decoder-MLP Layer : F-start\n"
      "0 0x7e1000 4096 0\n"
      "Iteration Index : end\n");
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "m a0:4096 a1:1048576@2 m f0:4096 m");
  EXPECT_EQ(recording.texts.at(trace.tags.at(0)), "Iteration Index : 0");
  EXPECT_EQ(recording.texts.at(trace.tags.at(3)), "decoder-MLP Layer : F-start");
  EXPECT_EQ(trace.tags.at(4), 0u);
  EXPECT_THAT(trace.streams, ElementsAre(0, 0x55d0));
}

TEST(StallocReader, AMicroBatchIsAMark) {
  EXPECT_EQ(drawn_events(trace_of("micro-batch 3 : F\n1 0x10 8 0\n")), "m a0:8");
}

TEST(StallocReader, ABlockThatTheLogOnlyFreesWasThereBefore) {
  const Trace trace = trace_of("1 0x10 8 0\n0 0x20 300 0\n");
  EXPECT_EQ(drawn_events(trace), "a0:300 a1:8 f0:300");
  EXPECT_TRUE(trace.coverage.gapless);
  EXPECT_FALSE(trace.coverage.complete);
}

TEST(StallocReader, WhatFailedOrIsEmptyIsCounted) {
  const Trace trace = trace_of("1 0x10 8 0\n1 0 0 0\n1 0 8 0\n0 0 0 0\n");
  EXPECT_EQ(trace.coverage.dropped, (std::map<std::string, std::uint64_t>{
                                        {"allocations that failed", 2}, {"frees of null", 1}}));
}

TEST(StallocReader, TheDeviceStandsInTheName) {
  EXPECT_EQ(read("1 0x10 8 0\n", "logs/mem_log_dev5.txt").traces.at(0).gpu, 5);
}

TEST(StallocReader, WhatIsNoCallIsRefusedByItsLine) {
  EXPECT_THAT(refused("1 0x10 8 0\n2 0x10 8 0\n"), HasSubstr("log:2: a line is '2 0x10 8 0'"));
  EXPECT_THAT(refused("1 10 8 0\n"), HasSubstr("log:1: a pointer is '10'"));
  EXPECT_THAT(refused("1 0x10 8 x\n"), HasSubstr("log:1: a stream is 'x'"));
  EXPECT_THAT(refused("1 0x10 8 0 0\n"), HasSubstr("log:1: a line is"));
}

}  // namespace
}  // namespace memreplay

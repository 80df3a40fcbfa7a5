#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "trace/beginnings.hpp"
#include "trace/csv/csv.hpp"
#include "trace/drawn_events.hpp"
#include "trace/readers.hpp"

namespace memreplay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kHeader = "Thread,Time,Action,Pointer,Size,Stream\n";

Recording read(const std::string& rows, const std::string& name = "log") {
  return rmm_reader().read({name, kHeader + rows}, {});
}

Trace trace_of(const std::string& rows) { return read(rows).traces.at(0); }

std::string refused(const std::string& row) { return refusal(rmm_reader(), kHeader + row + "\n"); }

TEST(RmmReader, EveryRowIsACallWithItsThreadTimeAndStream) {
  const Trace trace = trace_of(
      "7001,09:15:02.000101,allocate,0x7f2a00000000,1000,0\n"
      "7001,09:15:02.000130,allocate,0x7f2a00000400,4096,0x55d0c8a0\n"
      "7002,09:15:02.000177,allocate failure,(nil),9000000000,0\n"
      "7001,09:15:02.000200,free,0x7f2a00000000,1000,0\n");
  EXPECT_EQ(drawn_events(trace), "a0:1000 a1:4096@2 x:9000000000 f0:1000");
  EXPECT_THAT(trace.streams, ElementsAre(0, 0x55d0c8a0));
  EXPECT_THAT(trace.threads, ElementsAre(7001, 7001, 7002, 7001));
  EXPECT_THAT(trace.ids, ElementsAre(0x7f2a00000000, 0x7f2a00000400, 0, 0x7f2a00000000));
  EXPECT_EQ(trace.times_us.at(3) - trace.times_us.at(0), 99);
  EXPECT_TRUE(trace.coverage.complete);
}

TEST(RmmReader, AStreamIsNeverTakenForADecimalNumber) {
  EXPECT_THAT(trace_of("1,09:15:02.1,allocate,0x10,8,0x10\n").streams, ElementsAre(16));
  EXPECT_THAT(refused("1,09:15:02.1,allocate,0x10,8,10"), HasSubstr("log:2: a stream is '10'"));
}

TEST(RmmReader, TheDefaultStreamOfAThreadIsTheThreads) {
  const Trace trace = trace_of(
      "1,09:15:02.1,allocate,0x10,8,0x2\n"
      "2,09:15:02.2,allocate,0x20,8,0x2\n"
      "3,09:15:02.3,allocate,0x30,8,0x1\n");
  EXPECT_EQ(drawn_events(trace), "a0:8@2 a1:8@3 a2:8");
  EXPECT_EQ(trace.streams.at(1), 2u);  // as the log calls it
}

TEST(RmmReader, TheClockPassesMidnight) {
  const Trace trace = trace_of(
      "1,23:59:59.999999,allocate,0x10,8,0\n"
      "1,00:00:00:000001,free,0x10,8,0\n"
      "1,00:00:00.000000,allocate,0x10,8,0\n");
  EXPECT_EQ(trace.times_us.at(1) - trace.times_us.at(0), 2);
  EXPECT_EQ(trace.times_us.at(2) - trace.times_us.at(1), -1);  // a step back, and no day
}

TEST(RmmReader, ABlockThatTheLogOnlyFreesWasThereBefore) {
  const Recording recording = read(
      "1,09:15:02.1,allocate,0x10,8,0\n"
      "1,09:15:02.2,free,0x20,300,0\n"
      "1,09:15:02.3,free,0x30,,0\n");
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:300 a1:8 f0:300");
  EXPECT_EQ(
      trace.coverage.synthesised,
      (std::map<std::string, std::uint64_t>{{"allocations of blocks from before the log", 1}}));
  EXPECT_EQ(trace.coverage.dropped.at("frees of blocks that the log does not allocate"), 1u);
  EXPECT_EQ(trace.coverage.first_places.at("frees of blocks that the log does not allocate"),
            "line 4");
  EXPECT_THAT(recording.lacks,
              testing::Contains(HasSubstr("the order of blocks from before the log (1)")));
}

TEST(RmmReader, WhatIsRepairedIsCountedWithItsFirstPlace) {
  const Trace trace = trace_of(
      "1,09:15:02.1,allocate,0x10,8,0\n"
      "1,09:15:02.2,allocate,0x10,9,0\n"
      "1,09:15:02.3,allocate,0x20,0,0\n"
      "1,09:15:02.4,free,0x10,7,0\n"
      "1,09:15:02.4,free,(nil),7,0\n");
  EXPECT_EQ(drawn_events(trace), "a0:8 f0:8 a0:9 f0:9");
  EXPECT_EQ(
      trace.coverage.first_places,
      (std::map<std::string, std::string>{{"allocations of size 0", "line 4"},
                                          {"frees of null", "line 6"},
                                          {"frees missing in the log", "line 3"},
                                          {"sizes of frees other than their block's", "line 5"}}));
}

TEST(RmmReader, ALogOfAnOldVersionHasNoThreads) {
  const std::string log = "Time,Action,Pointer,Size,Stream\n09:15:02.1,allocate,0x10,8,0\n";
  const Recording recording = rmm_reader().read({"log", log}, {});
  EXPECT_TRUE(recording.traces.at(0).threads.empty());
  EXPECT_THAT(recording.lacks, ElementsAre("alignments", "threads"));
}

TEST(RmmReader, TheOldestLayoutSaysTheDeviceOfEveryRow) {
  const std::string log =
      "Event Type,Device ID,Address,Stream,Size (bytes),Free Memory,Total Memory,Start,End\n"
      "Alloc,1,0x10,0,8,5,9,0.25,0.5\n"
      "Alloc,0,0x20,0,8,5,9,0.25,0.5\n"
      "Realloc,1,0x30,0,16,5,9,0.5,0.75\n"
      "Free,1,0x10,0,0,5,9,1.25,1.5\n";
  const Trace trace = rmm_reader().read({"log", log}, {}).traces.at(0);
  EXPECT_EQ(trace.gpu, 1);
  EXPECT_EQ(trace.ops, (std::vector<Op>{Op::allocate, Op::free}));
  EXPECT_EQ(trace.coverage.dropped.at("rows of other devices"), 1u);
  EXPECT_THAT(trace.times_us, ElementsAre(250'000, 1'250'000));
}

TEST(RmmReader, TimesMayBeSecondsOfAnyEpoch) {
  EXPECT_THAT(trace_of("1,1700000000.100001,allocate,0x10,8,0\n"
                       "1,1700000000.200002,free,0x10,8,0\n")
                  .times_us,
              ElementsAre(1700000000100001, 1700000000200002));
}

TEST(RmmReader, TheDeviceStandsInTheName) {
  EXPECT_EQ(read("", "folder/rmm.dev3.csv.gz").traces.at(0).gpu, 3);
  EXPECT_EQ(read("", "folder.dev3/rmm.csv").traces.at(0).gpu, 0);
  EXPECT_EQ(read("", "device7.csv").traces.at(0).gpu, 0);
}

TEST(RmmReader, WhatIsNoCallIsRefusedByItsLine) {
  EXPECT_THAT(refused("1,09:15:02.1,resize,0x10,8,0"), HasSubstr("log:2: an action is 'resize'"));
  EXPECT_THAT(refused("1,9:15:02,allocate,0x10,8,0"), HasSubstr("log:2: a time is '9:15:02'"));
  EXPECT_THAT(refused("1,25:15:02,allocate,0x10,8,0"), HasSubstr("a time is"));
  EXPECT_THAT(refused("x,09:15:02.1,allocate,0x10,8,0"), HasSubstr("a thread is 'x'"));
  EXPECT_THAT(refused("1,09:15:02.1,allocate,10,8,0"), HasSubstr("a pointer is '10'"));
  EXPECT_THAT(refused("1,09:15:02.1,allocate,0x10"), HasSubstr("log:2: a row is"));
}

TEST(RmmReader, ATableOfOnesOwnIsNoLogOfRmm) {
  const auto recognised = [](const std::string& text) { return is_log_of_rmm({"log", text}); };
  EXPECT_TRUE(recognised(kHeader));
  EXPECT_TRUE(recognised(kHeader + "1,09:15:02.1,allocate,0x10,8,0\n"));
  EXPECT_FALSE(recognised(kHeader + "1,0.5,malloc,7,8,3\n"));
  EXPECT_FALSE(recognised("Thread,Time,Action,Pointer,Size,Stream,Pool\n"));
}

}  // namespace
}  // namespace memreplay

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "trace/drawn_events.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

std::string line(const std::string& call, const std::string& fields,
                 const std::string& process = "7") {
  return "[09:15:02.000500999] (+0.000001234) host lttng_ust_libc:" + call +
         ": { cpu_id = 2 }, { vpid = " + process + ", vtid = 8 }, { " + fields + " }\n";
}

Recording read(const std::string& text, const std::string& process = "") {
  return read_recording("calls.txt", text, {.process = process});
}

TEST(LttngReader, CallsOfTheCLibraryAreRead) {
  const Trace trace =
      read(line("malloc", "size = 42, ptr = 0x55D0C1") +
           line("calloc", "nmemb = 4, size = 42, ptr = 0x55D0F0") +
           line("realloc", "in_ptr = 0x55D0F0, size = 84, ptr = 0x55D1F0") +
           line("posix_memalign", "out_ptr = 0x60, alignment = 64, size = 100, result = 0") +
           line("memalign", "alignment = 64, size = 10, ptr = 0x70") +
           line("free", "ptr = 0x55D0C1") + line("free", "ptr = 0x0"))
          .traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:42 a1:168 f1:168 a1:84 a2:100 a3:10 f0:42");
  EXPECT_EQ(trace.gpu, -1);
  EXPECT_EQ(trace.threads.at(0), 8u);
  EXPECT_EQ(trace.times_us.at(0), 33'302'000'501);
}

TEST(LttngReader, OneProcessOfSeveralIsRead) {
  const std::string log = line("malloc", "size = 8, ptr = 0x1") +
                          line("malloc", "size = 16, ptr = 0x1", "9") + line("free", "ptr = 0x1") +
                          line("free", "ptr = 0x1", "9");
  EXPECT_EQ(drawn_events(read(log).traces.at(0)), "a0:8 f0:8");
  EXPECT_EQ(drawn_events(read(log, "9").traces.at(0)), "a0:16 f0:16");
  EXPECT_EQ(drawn_events(read(log, "all").traces.at(0)), "a0:8 a1:16/2 f0:8 f1:16/2");
}

TEST(LttngReader, OtherEventsAreLeftOut) {
  const Recording recording =
      read("[09:15:02.1] (+?.?) host sched_switch: { cpu_id = 0 }, { prev = 1 }\n" +
           line("malloc", "size = 8, ptr = 0x1"));
  EXPECT_EQ(drawn_events(recording.traces.at(0)), "a0:8");
  EXPECT_EQ(recording.traces[0].coverage.dropped.at("lines of other events"), 1u);
}

TEST(LttngReader, WhatIsWrongIsToldByItsLine) {
  try {
    read(line("malloc", "size = 8, ptr = 0x1") + line("malloc", "size = x, ptr = 0x2") +
         line("free", "ptr = 0x1"));
    ADD_FAILURE();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("calls.txt:2: "));
  }
}

}  // namespace
}  // namespace memreplay

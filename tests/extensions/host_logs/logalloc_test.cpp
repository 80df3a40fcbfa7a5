#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "trace/drawn_events.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

Recording read(const std::string& text, const std::string& process = "") {
  return read_recording("calls.log", text, {.process = process});
}

TEST(LogallocReader, ALogThatWasShortenedIsRead) {
  const Recording recording = read(
      "1 1 malloc(42)=#1\n1 1 malloc(24)=#2\n1 2 calloc(4,42)=#3\n1 1 free(#1)\n"
      "1 2 realloc(#3,84)=#1\n1 1 free(#2)\n1 1 free(#1)\n");
  EXPECT_EQ(recording.format, "logalloc");
  const Trace& trace = recording.traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:42 a1:24 a2:168 f0:42 f2:168 a2:84 f1:24 f2:84");
  EXPECT_EQ(trace.threads.at(2), 2u);
  EXPECT_EQ(trace.gpu, -1);
}

TEST(LogallocReader, ALogAsItIsWrittenIsRead) {
  const Trace trace = read(
                          "7 7 posix_memalign(64, 100)=0x7f00\n7 7 memalign(16,200)=0x8f00\n"
                          "7 8 aligned_alloc(16,300)=0x9f00\n7 8 valloc(400)=0xaf00\n"
                          "7 8 jemalloc_stats()\n7 8 moz_arena_malloc(3,500)=0xbf00\n"
                          "7 8 moz_arena_free(3,0xbf00)\n7 8 malloc(0)=0xcf00\n7 8 free(0x0)\n")
                          .traces.at(0);
  EXPECT_EQ(drawn_events(trace), "a0:100 a1:200 a2:300 a3:400 a4:500 f4:500");
}

TEST(LogallocReader, OneProcessOfSeveralIsRead) {
  const std::string log = "1 1 malloc(8)=#1\n2 1 malloc(16)=#1\n1 1 free(#1)\n2 1 free(#1)\n";
  EXPECT_EQ(drawn_events(read(log).traces.at(0)), "a0:8 f0:8");
  EXPECT_EQ(drawn_events(read(log, "2").traces.at(0)), "a0:16 f0:16");
  EXPECT_EQ(drawn_events(read(log, "all").traces.at(0)), "a0:8 a1:16/2 f0:8 f1:16/2");
}

TEST(LogallocReader, WhatIsWrongIsToldByItsLine) {
  for (const char* line : {"1 1 malloc(x)=#1", "1 1 malloc(1,2)=#1", "1 1 malloc(8", "words",
                           "1 1 calloc(4294967296,4294967296)=#1", "1 1 free(7)"}) {
    try {
      read(std::string("1 1 malloc(8)=#2\n") + line + "\n1 1 free(#2)\n");
      ADD_FAILURE() << line;
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("calls.log:2: ")) << error.what();
    }
  }
}

}  // namespace
}  // namespace memreplay

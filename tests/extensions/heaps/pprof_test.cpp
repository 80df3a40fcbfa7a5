#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "trace/compressed.hpp"
#include "trace/live_blocks.hpp"
#include "trace/profile_bytes.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

Recording read(const std::string& bytes) { return read_recording("heap.prof", bytes, {}); }

std::string refused(const std::string& bytes) {
  try {
    read(bytes);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

TEST(PprofReader, ATextOfGperftoolsIsRead) {
  const Recording recording = read(
      "heap profile:      3:     4608 [     9:     9000] @ heapz_v2/524288\n"
      "     2:     4096 [     8:     8000] @ 0x10 0x20\n"
      "     1:      512 [     1:     1000] @ 0x30\n\nMAPPED_LIBRARIES:\n00400000-0040b000 r-xp "
      "x\n");
  EXPECT_EQ(recording.format, "pprof");
  EXPECT_EQ(recording.lacks.back(),
            "exact figures (they are told from samples, one in 524,288 bytes)");
  EXPECT_TRUE(recording.traces.at(0).stated.sampled);
}

/// What a profile says is live in all.
Bytes live(const Recording& recording) { return recording.traces.at(0).coverage.preexisting_bytes; }

// The mean size of a block is the rate: 1 - 1/e of them were sampled.
TEST(PprofReader, SamplesStandForAllBlocksOfTheirSize) {
  EXPECT_EQ(live(read("heap_v2/1000\n  t*: 9: 9 [0: 0]\n@ 0x1\n  t*: 2: 2000 [0: 0]\n")), 3164u);
  EXPECT_EQ(live(read("heap profile: 1: 1 [ 1: 1] @ heap_v2/1000\n 2: 2000 [0: 0] @ 0x1\n")),
            3164u);
  EXPECT_EQ(live(read("heap profile: 1: 1 [ 1: 1] @ heap/2000\n 2: 2000 [0: 0] @ 0x1\n")), 3164u);
  EXPECT_EQ(live(read("heap profile: 1: 1 [ 1: 1] @ heapprofile\n 2: 2000 [0: 0] @ 0x1\n")), 2000u);
}

TEST(PprofReader, CallsInsideOfTheAllocatorAreLeftOut) {
  const std::string rows =
      "heap_v2/1\n  t*: 2: 300 [0: 0]\n@ 0x7f10 0x7f20 0x500\n"
      "  t*: 1: 100 [0: 0]\n@ 0x7f10 0x600\n  t*: 1: 200 [0: 0]\n"
      "@ 0x7f10\n  t*: 1: 50 [0: 0]\n";
  EXPECT_EQ(live_blocks(read(rows + "MAPPED_LIBRARIES:\n500-700 r-xp 0 fe:00 1 /opt/app\n"
                                    "7f00-8000 r-xp 0 fe:00 2  /usr/lib/libjemalloc.so.2\n")),
            "100 0x500 200 0x600 50 0x7f10");
  EXPECT_EQ(live_blocks(read(rows)), "100 0x7f10<0x7f20<0x500 200 0x7f10<0x600 50 0x7f10");
}

TEST(PprofReader, ATextOfJemallocIsRead) {
  EXPECT_EQ(live_blocks(read("heap_v2/1\n  t*: 3: 700 [0: 0]\n  t0: 3: 700 [0: 0]\n@ 0x7f 0x8f\n"
                             "  t*: 1: 200 [0: 0]\n  t0: 1: 200 [0: 0]\n@ 0x9f\n"
                             "  t*: 2: 500 [0: 0]\n  t3: 2: 500 [0: 0]\n\nMAPPED_LIBRARIES:\n")),
            "200 0x7f<0x8f 250 0x9f 250 0x9f");
}

TEST(PprofReader, BlocksWithoutCallsAreRead) {
  EXPECT_EQ(live_blocks(read("heap_v2/1\n  t*: 2: 300 [0: 0]\n@\n  t*: 1: 200 [0: 0]\n@ 0x9f\n"
                             "  t*: 1: 100 [0: 0]\n")),
            "200 100 0x9f");
}

TEST(PprofReader, OfAHeaderAloneTheFiguresAreRead) {
  for (const char* text :
       {"heap profile: 2: 600 [ 9: 9000] @ heapprofile\n", "heap_v2/1\n  t*: 2: 600 [0: 0]\n"}) {
    const Recording recording = read(text);
    EXPECT_EQ(live_blocks(recording), "300 300") << text;
    EXPECT_EQ(recording.lacks.back(), "call sites (it has its header alone)");
  }
}

TEST(PprofReader, OfVeryManyBlocksItIsSaidThatTheyAreNotApart) {
  const Recording recording =
      read("heap profile: 3000000: 6000000 [0: 0] @ heapprofile\n3000000: 6000000 [0: 0] @ 0x1\n");
  EXPECT_EQ(recording.lacks.back(),
            "some of its 3,000,000 blocks separately (from the 1,048,576th on, all of a call site "
            "are one)");
}

// Each sampled block of a rate like that stands for more than a number holds.
TEST(PprofReader, CountsBeyondAnyNumberAreRefusedAtOnce) {
  EXPECT_NE(refused("heap profile: 2: 2 [2: 2] @ heap_v2/21444444444444444\n"
                    "1: 1 [1: 1] @ 0x1\n440042: 1 [440042: 1] @ 0x2\n")
                .find("holds more than 1 EiB of live memory"),
            std::string::npos);
}

TEST(PprofReader, TheMemoryProfileOfJaxHasATraceForEachDevice) {
  const Recording recording = read(gzipped(jax_profile(1000, "cuda:1")));
  EXPECT_EQ(recording.detail,
            "JAX's device memory profile; 50 B more are the code of 1 compiled program "
            "(executable), of no device");
  EXPECT_EQ(recording.traces.at(0).gpu, 1);
  EXPECT_EQ(live_blocks(recording),
            "500 step@net.py:88<main@net.py:7 500 step@net.py:88<main@net.py:7");
  EXPECT_EQ(read(jax_profile(1000, "TFRT_CPU_0")).traces.at(0).gpu, -1);
  EXPECT_EQ(read(jax_profile(1000, "TPU_3(process=0,(0,0,0,0))")).traces.at(0).gpu, 3);
}

TEST(PprofReader, ATpuDoesNotSayHowLargeAProgramIs) {
  const std::string profile = jax_profile(1000, "TPU_0", UINT64_MAX);
  EXPECT_EQ(live_blocks(read(profile)),
            "500 step@net.py:88<main@net.py:7 500 step@net.py:88<main@net.py:7");
}

std::string go_profile(const std::string& last_type) {
  std::string profile = field(1, field(1, 1) + field(2, 2)) + field(1, field(1, 3) + field(2, 4));
  // Numbers one by one, with an address alone.
  profile += field(2, field(1, 7) + field(2, 1) + field(2, 64));
  profile += field(4, field(1, 7) + field(3, 0x401000));
  for (const std::string& text : {std::string(), std::string("inuse_objects"), std::string("count"),
                                  last_type, std::string("bytes")}) {
    profile += field(6, text);
  }
  return profile;
}

TEST(PprofReader, InlinedCallsDoNotMultiplyAStack) {
  std::string lines, stacks;
  for (int i = 0; i < 5000; ++i) lines += field(4, field(1, 1));
  for (int i = 0; i < 2000; ++i) {
    stacks += field(2, field(1, 2 + i) + field(1, 1) + field(2, 1) + field(2, 64)) +
              field(4, field(1, 2 + i) + field(3, 0x1000 + i));
  }
  const Recording recording = read(go_profile("inuse_space") + field(4, field(1, 1) + lines) +
                                   stacks + field(5, field(1, 1) + field(2, 1)));
  for (const auto& stack : recording.stacks) EXPECT_LE(stack.size(), 4096u);
}

TEST(PprofReader, AProfileOfGoIsRead) {
  EXPECT_EQ(live_blocks(read(go_profile("inuse_space"))), "64 0x401000");
  EXPECT_EQ(read(go_profile("inuse_space")).traces.at(0).gpu, -1);
}

TEST(PprofReader, AProfileMayBeginWithTheTypeOfItsPeriod) {
  const std::string period = field(11, field(1, 3) + field(2, 4)) + field(12, 524288);
  EXPECT_EQ(live_blocks(read(period + go_profile("inuse_space"))), "64 0x401000");
}

TEST(PprofReader, ProfilesOfOtherThingsAreRefused) {
  EXPECT_EQ(refused(go_profile("alloc_space")),
            "heap.prof: is a profile of inuse_objects in count, alloc_space in bytes; expected one "
            "of memory in use (inuse_space)");
  EXPECT_NE(refused("heap profile: 1: 2 [ 1: 2] @ growthz\n").find("growth of the heap"),
            std::string::npos);
}

TEST(PprofReader, WhatIsDamagedIsToldByItsPlace) {
  const std::string whole = jax_profile(1000, "cuda:0");
  EXPECT_NE(refused(whole.substr(0, 30)).find("heap.prof: byte "), std::string::npos)
      << refused(whole.substr(0, 30));
  EXPECT_NE(refused(jax_profile(std::uint64_t{1} << 60, "cuda:0")).find("1 EiB or more"),
            std::string::npos);
  EXPECT_NE(refused("heap profile: 1: 2 [ 1: 2] @ heap\n 1: x [1: 2] @ 0x1\n").find(":2: a size"),
            std::string::npos);
}

}  // namespace
}  // namespace memreplay

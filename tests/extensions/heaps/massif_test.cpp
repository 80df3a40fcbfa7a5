#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "trace/live_blocks.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

Recording read(const std::string& text) { return read_recording("massif.out", text, {}); }

// As Valgrind 3.19 writes it.
const std::string kHead =
    "desc: --massif-out-file=m.out --stacks=yes\ncmd: ./app\ntime_unit: i\n#-----------\n"
    "snapshot=0\n#-----------\ntime=0\nmem_heap_B=0\nmem_heap_extra_B=0\nmem_stacks_B=0\n"
    "heap_tree=empty\n#-----------\n";

TEST(MassifReader, TheStateAtThePeakIsReadByCallSite) {
  const Recording recording = read(
      kHead +
      "snapshot=1\n#-----------\ntime=500\nmem_heap_B=1100\nmem_heap_extra_B=16\nmem_stacks_B=0\n"
      "heap_tree=peak\nn3: 1100 (heap allocation functions) malloc/new/new[], --alloc-fns, etc.\n"
      " n1: 600 0x109180: g (m.c:2)\n  n2: 600 0x109197: f(int, char) (m.c:3)\n"
      "   n0: 400 0x1091C0: main (m.c:4)\n   n0: 200 0x1091D0: other (in /usr/bin/app)\n"
      " n0: 400 0x109190: ???\n n0: 100 in 3 places, all below massif's threshold (1.00%)\n"
      "#-----------\nsnapshot=2\n#-----------\ntime=900\nmem_heap_B=50\nmem_heap_extra_B=8\n"
      "mem_stacks_B=0\nheap_tree=empty\n");
  EXPECT_EQ(recording.format, "massif");
  EXPECT_EQ(recording.traces.at(0).gpu, -1);
  EXPECT_EQ(live_blocks(recording),
            "400 g@m.c:2<f(int, char)@m.c:3<main@m.c:4 "
            "200 g@m.c:2<f(int, char)@m.c:3<other@/usr/bin/app 400 ??? "
            "100 in 3 places, all below massif's threshold (1.00%)");
  EXPECT_EQ(recording.detail,
            "Valgrind's massif output, 3 states, of which this is the peak; 16 B more for "
            "administration and "
            "rounding");
  EXPECT_FALSE(recording.traces.at(0).coverage.complete);
  EXPECT_TRUE(recording.traces[0].stated.at_peak);
  EXPECT_FALSE(recording.traces[0].stated.end_live);  // the last state need not be the end
}

TEST(MassifReader, WithoutAPeakOrATreeTheLargestStateIsRead) {
  const Recording recording = read(
      "desc: (none)\ncmd: ./app\ntime_unit: ms\n#-----------\nsnapshot=0\n#-----------\ntime=1\n"
      "mem_heap_B=300\nmem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=empty\n#-----------\n"
      "snapshot=1\n#-----------\ntime=2\nmem_heap_B=200\nmem_heap_extra_B=0\nmem_stacks_B=50\n"
      "heap_tree=detailed\nn0: 200 (heap allocation functions) malloc\n");
  EXPECT_EQ(live_blocks(recording), "300");
  EXPECT_EQ(recording.detail, "Valgrind's massif output, 2 states, of which this is the largest");
}

TEST(MassifReader, WhatATreeLacksHasNoCallSite) {
  EXPECT_EQ(live_blocks(read(kHead + "snapshot=1\n#-----------\ntime=5\nmem_heap_B=900\n"
                                     "mem_heap_extra_B=0\nmem_stacks_B=0\nheap_tree=peak\n"
                                     "n2: 900 (heap allocation functions) malloc\n n0: 700 0x1: f "
                                     "(a.c:3)")),
            "700 f@a.c:3 200");
}

TEST(MassifReader, WhatIsWrongIsToldByItsLine) {
  for (const char* line : {"mem_heap_B=many", "n1: many 0x1: f (a.c:3)", "nx: 1 0x1: f"}) {
    try {
      read(kHead + "snapshot=1\n" + line + "\n");
      ADD_FAILURE() << line;
    } catch (const InputError& error) {
      EXPECT_TRUE(std::string(error.what()).starts_with("massif.out:14: ")) << error.what();
    }
  }
}

}  // namespace
}  // namespace memreplay

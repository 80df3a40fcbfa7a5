#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "trace/live_blocks.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

Recording read(const std::string& text) { return read_recording("dhat.out.7", text, {}); }

std::string refused(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

// As Valgrind 3.19 writes it.
TEST(DhatReader, WhatWasLiveAtThePeakIsReadByCallSite) {
  const Recording recording = read(R"json({"dhatFileVersion":2
,"mode":"heap","verb":"Allocated"
,"bklt":true,"bkacc":true
,"tu":"instrs","Mtu":"Minstr"
,"tuth":500
,"cmd":"./m"
,"pid":7
,"te":156182
,"tg":148292
,"pps":
 [{"tb":1225500,"tbk":50
  ,"tl":304375
  ,"mb":1225500,"mbk":50
  ,"gb":300,"gbk":3
  ,"eb":625250,"ebk":25
  ,"rb":0,"wb":0
  ,"acc":[5,-3,0]
  ,"fs":[1,2]
  }
 ,{"tb":51000,"tbk":2,"tl":1,"mb":0,"mbk":0,"gb":0,"gbk":0,"eb":50000,"ebk":1,"fs":[2]}
 ]
,"ftbl":
 ["[root]"
 ,"0x48417B4: malloc (in /usr/libexec/vgpreload_dhat.so)"
 ,"0x1091C0: main (m.c:4)"
 ]
})json");
  EXPECT_EQ(recording.format, "dhat");
  const std::string at = " main@m.c:4";
  EXPECT_EQ(live_blocks(recording), "100" + at + " 100" + at + " 100" + at);
  EXPECT_TRUE(recording.traces.at(0).stated.at_peak);
  EXPECT_EQ(recording.traces[0].stated.end_live, 675'250u);
}

// As Rust's crate writes it.
TEST(DhatReader, FramesOfRustHaveColumns) {
  EXPECT_EQ(live_blocks(
                read(R"json({"dhatFileVersion":2,"mode":"rust-heap","verb":"Allocated","bklt":true,
"bkacc":false,"tu":"µs","Mtu":"s","tuth":10,"cmd":"app","pid":7,"tg":5,"te":9,
"pps":[{"tb":9,"tbk":2,"tl":4,"mb":9,"mbk":2,"gb":9,"gbk":2,"eb":0,"ebk":0,"fs":[1]}],
"ftbl":["[root]","0x55: app::main (src/main.rs:8:5)"]})json")),
            "4 app::main@src/main.rs:8 5 app::main@src/main.rs:8");
}

TEST(DhatReader, OtherModesAreRefused) {
  EXPECT_EQ(refused(R"json({"dhatFileVersion":2,"mode":"copy","bklt":false,
"pps":[{"tb":15,"tbk":1,"fs":[0]}],"ftbl":["[root]"]})json"),
            "dhat.out.7: pps[0]: has no gb, the bytes at the peak: this mode of DHAT does not "
            "follow what is live; expected --mode=heap");
  EXPECT_NE(refused(R"json({"dhatFileVersion":2,"pps":[{"gb":1,"fs":[4]}],"ftbl":[]})json")
                .find("pps[0]"),
            std::string::npos);
  EXPECT_NE(refused("{\"dhatFileVersion\":2,\n\"pps\":[").find("is not JSON here"),
            std::string::npos);
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include <string>

#include "core/error.hpp"
#include "trace/live_blocks.hpp"
#include "trace/reader.hpp"

namespace memreplay {
namespace {

Recording read(const std::string& text) { return read_recording("dump.json", text, {}); }

std::string refused(const std::string& text) {
  try {
    read(text);
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

// VMA 3.
TEST(VmaReader, BlocksAndDedicatedAllocationsAreRead) {
  const Recording recording = read(R"({"General":{"API":"Vulkan 1.3","GPU":"Card X"},
"Total":{"BlockCount":2,"BlockBytes":1568,"AllocationCount":3,"AllocationBytes":660,"UnusedRangeCount":2},
"MemoryInfo":{"Heap 0":{"Flags":["DEVICE_LOCAL"],"Size":100}},
"DefaultPools":{"Type 0":{"PreferredBlockSize":1024,"Blocks":{"0":{"MapRefCount":0,"TotalBytes":1024,
 "UnusedBytes":864,"AllocationCount":2,"UnusedRangeCount":1,"Suballocations":[
 {"Offset":0,"Type":"BUFFER","Size":100,"Usage":7},{"Offset":100,"Type":"FREE","Size":28},
 {"Offset":128,"Type":"IMAGE_OPTIMAL","Size":60,"Name":"shadow map"}]}},
 "DedicatedAllocations":[{"Type":"IMAGE_LINEAR","Size":500,"Usage":3}]}},
"CustomPools":{"Type 1":[{"Name":"mine","Flags":[],"PreferredBlockSize":44,
 "Blocks":{"0":{"TotalBytes":44,"Suballocations":[]}},"DedicatedAllocations":[]}]}})");
  EXPECT_EQ(recording.format, "vma");
  EXPECT_EQ(live_blocks(recording),
            "100 BUFFER (28) 60 IMAGE_OPTIMAL shadow map (836) | 500 IMAGE_LINEAR | (44)");
}

// VMA 2.
TEST(VmaReader, DumpsOfEarlierReleasesAreRead) {
  EXPECT_EQ(
      live_blocks(read(R"({"Total":{"Blocks":1,"Allocations":1,"UnusedRanges":1,"UsedBytes":10,
"UnusedBytes":20},"DefaultPools":{"Type 3":{"PreferredBlockSize":30,"Blocks":{"7":{"TotalBytes":30,
"UnusedBytes":20,"Allocations":1,"UnusedRanges":1,"Suballocations":[
{"Offset":0,"Type":"FREE","Size":20},{"Offset":20,"Type":"BUFFER","Size":10}]}}}},
"DedicatedAllocations":{"Type 3":[{"Type":"UNKNOWN","Size":8}]}})")),
      "(20) 10 BUFFER | 8 UNKNOWN");
}

TEST(VmaReader, HeapsThatAreNotTheDevicesOwnAreOfTheHost) {
  const std::string pools = R"("Total":{"UnusedRangeCount":1},"DefaultPools":{
"Type 0":{"Blocks":{"0":{"TotalBytes":10,"Suballocations":[{"Offset":0,"Type":"A","Size":10}]}}},
"Type 1":{"Blocks":{"0":{"TotalBytes":20,"Suballocations":[{"Offset":0,"Type":"B","Size":20}]}}}})";
  const std::string of_old = R"("Heap 0":{"Flags":["DEVICE_LOCAL"],"Type 0":{}},
"Heap 1":{"Flags":[],"Type 1":{}})";
  const std::string of_new = R"("MemoryInfo":{"Heap 0":{"Flags":["DEVICE_LOCAL"],"MemoryPools":{
"Type 0":{}}},"Heap 1":{"Flags":[],"MemoryPools":{"Type 1":{}}}})";
  for (const std::string& heaps : {of_old, of_new}) {
    const Recording recording = read("{" + pools + "," + heaps + "}");
    ASSERT_EQ(recording.traces.size(), 2u);
    EXPECT_EQ(recording.traces[0].gpu, -1);
    EXPECT_EQ(recording.traces[0].coverage.preexisting_bytes, 20u);
    EXPECT_EQ(recording.traces[1].coverage.preexisting_bytes, 10u);
  }
}

TEST(VmaReader, WithoutTheDetailedMapTheTotalsAreRead) {
  const Recording recording = read(R"({"General":{"API":"Direct3D 12","GPU":"X"},"Total":{
"BlockCount":1,"BlockBytes":64,"AllocationCount":2,"AllocationBytes":20,"UnusedRangeCount":1}})");
  EXPECT_EQ(live_blocks(recording), "10 10 (44)");
  EXPECT_TRUE(recording.detail.find("D3D12") != std::string::npos);
}

TEST(VmaReader, PartsThatOverlapAreRefused) {
  const std::string head = R"({"Total":{"UnusedRangeCount":1},"DefaultPools":{"Blocks":{"0":{)";
  EXPECT_EQ(
      refused(head + R"("TotalBytes":9,"Suballocations":[{"Offset":0,"Type":"BUFFER","Size":8},
{"Offset":4,"Type":"BUFFER","Size":2}]}}}})"),
      "dump.json: DefaultPools.Blocks.0.Suballocations[1].Offset: is 4; expected one after "
      "those before");
  EXPECT_NE(refused(head + R"("TotalBytes":9,"Suballocations":[{"Offset":0,"Size":10}]}}}})")
                .find("expected an end within TotalBytes"),
            std::string::npos);
}

}  // namespace
}  // namespace memreplay

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "trace/gate.hpp"
#include "trace/snapshot/torch_snapshot.hpp"

namespace memreplay {
namespace {

using Counts = std::map<std::string, std::uint64_t>;

/// "alloc 4096 512, free_completed 4096 512" as entries of one device.
std::string entries_of(std::string_view text) {
  std::string entries;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(", "), text.size());
    const std::string_view one = text.substr(0, end);
    const std::size_t first = one.find(' '), second = one.find(' ', first + 1);
    entries += fmt::format(R"({}{{"action": "{}", "addr": {}, "size": {}}})",
                           entries.empty() ? "" : ", ", one.substr(0, first),
                           one.substr(first + 1, second - first - 1), one.substr(second + 1));
    text.remove_prefix(std::min(end + 2, text.size()));
  }
  return entries;
}

/// The trace of a snapshot with these segments and entries; what is repaired is fit for the gate.
Trace trace_of(const std::string& segments, std::string_view entries) {
  const std::string bytes = fmt::format(R"({{"segments": [{}], "device_traces": [[{}]]}})",
                                        segments, entries_of(entries));
  const Recording recording = torch_recording(read_torch_json({"x.json", bytes}), "x.json", "", "");
  EXPECT_NO_THROW(check_recording(recording)) << entries;
  return recording.traces.empty() ? Trace{} : recording.traces.front();
}

std::string segment(Address address, Bytes size, std::string_view blocks, bool expandable = false) {
  return fmt::format(R"({{"address": {}, "total_size": {}, "is_expandable": {}, "blocks": [{}]}})",
                     address, size, expandable, blocks);
}

std::string block(Address address, Bytes size, std::string_view state = "active_allocated") {
  return fmt::format(R"({{"address": {}, "size": {}, "state": "{}"}})", address, size, state);
}

TEST(TorchTrace, ABlockIsFreedOnce) {
  const Trace trace = trace_of("",
                               "alloc 0 512, free_requested 0 512, free_requested 0 512, "
                               "free_completed 0 512, free_completed 0 512");
  EXPECT_EQ(trace.coverage.dropped, (Counts{{"frees of blocks that were freed already", 2}}));
  EXPECT_EQ(trace.ops, (std::vector{Op::allocate, Op::free_requested, Op::free_completed}));
  EXPECT_TRUE(trace.coverage.starts_empty);
}

TEST(TorchTrace, AFreeThatWasNeverRequestedIsDoneAtOnce) {
  const Trace trace = trace_of("",
                               "alloc 0 512, free_completed 0 512, alloc 0 512, "
                               "free_requested 0 512, free_completed 0 512");
  EXPECT_EQ(trace.coverage.synthesised,
            (Counts{{"requests of frees missing in the recording", 1}}));
  EXPECT_EQ(trace.ops, (std::vector{Op::allocate, Op::free, Op::allocate, Op::free_requested,
                                    Op::free_completed}));
}

TEST(TorchTrace, AnAllocationOverAPendingBlockCompletesItsFree) {
  const Trace trace = trace_of("",
                               "alloc 0 512, free_requested 0 512, alloc 0 1024, "
                               "free_requested 0 1024, free_completed 0 1024");
  EXPECT_EQ(trace.coverage.synthesised, (Counts{{"frees missing in the recording", 1}}));
  EXPECT_EQ(trace.ops, (std::vector{Op::allocate, Op::free_requested, Op::free_completed,
                                    Op::allocate, Op::free_requested, Op::free_completed}));
}

// Before PyTorch 2.12 entries name no pool: that of the segment at the end holds for what was cut
// off from it, too.
TEST(TorchTrace, WhatIsUnmappedBehindAPrivateSegmentIsOfItsPool) {
  const std::string end = R"({"address": 2097152, "total_size": 2097152, "is_expandable": true,)"
                          R"( "segment_pool_id": [0, 1], "blocks": []})";
  const Trace trace = trace_of(end,
                               "segment_map 2097152 2097152, segment_map 4194304 2097152, "
                               "alloc 4194304 512, free_requested 4194304 512, "
                               "free_completed 4194304 512, segment_unmap 4194304 2097152");
  ASSERT_EQ(trace.size(), 6u);
  for (std::size_t i = 0; i < trace.size(); ++i) {
    EXPECT_EQ(trace.pools[trace.lane(i).pool], (PoolId{0, 1})) << i;
  }
}

TEST(TorchTrace, SegmentEntriesThatCannotHaveBeenAreLeftOut) {
  const std::string end = segment(0, 4096, block(0, 4096, "inactive"));
  for (const char* entries :
       {"segment_alloc 0 8192", "segment_alloc 512 512", "segment_free 2048 4096",
        "segment_map 0 4096", "segment_unmap 4095 1", "segment_free 4096 0",
        "segment_free 18446744073709551104 1024"}) {
    const Trace trace = trace_of(end, entries);
    EXPECT_EQ(trace.coverage.dropped,
              (Counts{{"segment entries that contradict the final segments", 1}}))
        << entries;
    EXPECT_EQ(trace.size(), 0u) << entries;
    EXPECT_EQ(trace.start, trace.end) << entries;
  }
}

TEST(TorchTrace, SegmentEntriesOfASnapshotWithoutSegmentsStay) {
  const Trace trace =
      trace_of("", "segment_alloc 0 4096, segment_alloc 2048 4096, segment_map 8192 512");
  EXPECT_EQ(trace.coverage.dropped,
            (Counts{{"segment entries that contradict the final segments", 3}}));
  EXPECT_EQ(trace.addresses, (std::vector<Address>{0, 8192}));
}

TEST(TorchTrace, AMapMayReachOverRunsThatBecameTwo) {
  const std::string end = segment(0, 4096, block(0, 4096, "inactive"), true) + ", " +
                          segment(4096, 4096, block(4096, 4096, "inactive"), true);
  const Trace trace = trace_of(end, "segment_map 2048 4096");
  EXPECT_TRUE(trace.coverage.dropped.empty());
  ASSERT_EQ(trace.start.segments.size(), 2u);
  EXPECT_EQ(trace.start.segments[0].size, 2048u);
  EXPECT_EQ(trace.start.segments[1].address, 6144u);
}

TEST(TorchTrace, SegmentsOverOthersOrWithoutASizeAreLeftOut) {
  const std::string good = segment(0, 4096, block(0, 4096));
  const Trace trace = trace_of(good + ", " + segment(2048, 4096, "") + ", " + segment(8192, 0, "") +
                                   ", " + segment(~Address{0} - 511, 1024, ""),
                               "");
  EXPECT_EQ(trace.coverage.dropped,
            (Counts{{"segments over others", 1}, {"segments without a size", 2}}));
  EXPECT_EQ(trace.end.segments.size(), 1u);
}

TEST(TorchTrace, BlocksThatDoNotTileTheirSegmentAreCutToFit) {
  const std::string blocks = block(0, 512) + ", " + block(256, 512) + ", " + block(1024, 512) +
                             ", " + block(4096, 512) + ", " + block(3584, 1024);
  const Trace trace = trace_of(segment(0, 4096, blocks), "");
  EXPECT_EQ(trace.coverage.dropped, (Counts{{"blocks outside their segment or over another", 3},
                                            {"gaps between the blocks of a segment", 2}}));
  const std::vector<BlockInfo>& tiles = trace.end.segments.at(0).blocks;
  ASSERT_EQ(tiles.size(), 4u);
  EXPECT_EQ(tiles[1].size, 512u);
  EXPECT_EQ(tiles[3].state, BlockState::free);
  EXPECT_EQ(tiles[3].size, 4096u - 1536);
}

}  // namespace
}  // namespace memreplay

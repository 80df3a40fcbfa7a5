#include "verify/reading.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "trace/reader.hpp"
#include "verify/verify.hpp"

namespace memreplay {
namespace {

using Kind = ProgramCall::Kind;

struct Read {
  Recording recording;
  VerifyResult result;

  const Trace& trace() const { return recording.traces.front(); }
  const Reading& reading() const { return result.reading; }
};

// A bundled recording, which has to be reproduced for its reading to mean anything.
Read read(const std::string& name) {
  Read read{read_recording(std::string(MEMREPLAY_TRACES) + "/torch/" + name), {}};
  read.result = verify(read.recording, read.trace());
  EXPECT_EQ(read.result.verdict, Verdict::exact) << name;
  return read;
}

/// Six of them when a request finds the device full, six by an empty_cache.
TEST(Reading, ReleasesShowThatPoolsAreHeldByNobody) {
  const Read pools = read("graph_pools_released.pickle");
  std::map<std::uint64_t, int> released;
  for (const ProgramCall& call : pools.reading().calls) {
    if (call.kind == Kind::release_pool) ++released[call.event];
  }
  ASSERT_EQ(released.size(), 2u);
  EXPECT_EQ(released.begin()->second, 6);
  EXPECT_EQ(released.rbegin()->second, 6);
  EXPECT_EQ(pools.reading().retries, 1u);
}

TEST(Reading, ACollectionShowsTheMemoryLimit) {
  const Read gc = read("garbage_collection.pickle");
  // It was 15,840 MiB; the moments of collection leave a range.
  ASSERT_TRUE(gc.reading().memory_limit);
  EXPECT_GT(*gc.reading().memory_limit, 14'500 * kMiB);
  EXPECT_LT(*gc.reading().memory_limit, 17'000 * kMiB);
  EXPECT_TRUE(gc.reading().calls.empty());
}

/// The first collection frees all that there is: every threshold below decides alike.
TEST(Reading, ACollectionOfAllThatThereIsLeavesTheThresholdOpenBelow) {
  const Read little = read("little_to_collect.pickle");
  // It was 600 MiB. The second collection leaves a threshold of 141 to 250 MiB, which is 0.3 of it.
  ASSERT_TRUE(little.reading().memory_limit);
  EXPECT_GE(*little.reading().memory_limit, 470 * kMiB);
  EXPECT_LE(*little.reading().memory_limit, 834 * kMiB);
  EXPECT_EQ(little.reading().retries, 0u);
}

/// A new reservation cannot have been refused while less was held than later; a limit refuses
/// a request for its whole size.
TEST(Reading, CallsOfEmptyCacheAndReleasesForWantOfMemoryAreToldApart) {
  const Read both = read("retry_or_empty_cache.pickle");
  EXPECT_EQ(both.reading().retries, 1u);
  EXPECT_EQ(std::ranges::count(both.reading().calls, Kind::empty_cache, &ProgramCall::kind), 2);
}

TEST(Reading, AFullReservationShowsTheSizeOfTheDevice) {
  const Read full = read("full_reservation.pickle");
  ASSERT_TRUE(full.reading().device_total);
  EXPECT_GE(*full.reading().device_total, 19'000 * kMiB);
  EXPECT_LT(*full.reading().device_total, 19'200 * kMiB);
}

TEST(Reading, APoolThatKeepsItsBlocksWholeIsRecognised) {
  const Read pools = read("pools_kept_whole.pickle");
  const auto& options = pools.reading().pool_options;
  EXPECT_TRUE(std::ranges::any_of(options, &PoolOptions::no_split));
  EXPECT_FALSE(std::ranges::all_of(options, &PoolOptions::no_split));
  EXPECT_TRUE(pools.reading().released_memory);
}

TEST(Reading, SegmentsOfUnnamedPoolsAreGivenToTheirPools) {
  const Read pools = read("pools_unnamed.pickle");
  ASSERT_NE(pools.reading().corrected, nullptr);
  EXPECT_NE(pools.reading().corrected->lane_of, pools.trace().lane_of);
  EXPECT_EQ(pools.reading().corrected->ops, pools.trace().ops);
}

// torch.cuda.graph calls it before every capture; three of these calls left entries.
TEST(Reading, CapturesEmptyTheCacheThoughNoEntrySaysSo) {
  const Read graph = read("graph_pool.pickle");
  const Trace& trace = graph.trace();
  std::size_t before_a_capture = 0;
  for (const ProgramCall& call : graph.reading().calls) {
    if (call.kind != Kind::empty_cache) continue;
    std::uint64_t request = call.event;
    while (request < trace.size() && trace.ops[request] != Op::allocate) ++request;
    before_a_capture += request < trace.size() && trace.lane(request).pool != 0;
  }
  EXPECT_EQ(before_a_capture, 5u);
  EXPECT_TRUE(graph.reading().pool_options.at(1).of_a_graph);
}

TEST(Reading, ReleasesThatARequestForcedAreNoCallsOfTheProgram) {
  const Read growth = read("seq_growth.pickle");
  EXPECT_TRUE(growth.reading().released_memory);
  EXPECT_TRUE(growth.reading().calls.empty());
}

// Two blocks of a side stream: one completes two requests after its free, one in a synchronisation.
TEST(Reading, ADeferredCompletionIsDueWhenItsStreamUsuallyCompletes) {
  Trace trace;
  trace.lanes = {{.stream = 0}};
  trace.streams = {0};
  trace.pools.resize(1);
  trace.slot_count = 4;
  const auto add = [&](Op op, Slot slot) {
    trace.ops.push_back(op);
    trace.slots.push_back(slot);
    trace.lane_of.push_back(0);
    trace.sizes.push_back(512);
  };
  add(Op::allocate, 0);
  add(Op::free_requested, 0);
  add(Op::allocate, 1);
  add(Op::allocate, 2);
  add(Op::free_completed, 0);
  add(Op::free_requested, 1);
  add(Op::free_completed, 1);  // 6: forced
  add(Op::allocate, 3);
  add(Op::allocate, 0);
  add(Op::allocate, 1);
  Reading reading;
  reading.deferrals = {{.event = 6}};
  complete_deferrals(trace, reading);
  EXPECT_EQ(reading.deferrals[0].due, 9u);
}

}  // namespace
}  // namespace memreplay

#include "verify/subject.hpp"

#include <gtest/gtest.h>

#include "trace/trace_builder.hpp"

namespace memreplay {
namespace {

constexpr Address kUsual = 0x7f0000000000;
constexpr PoolId kPool{0, 1};

/// Segments of the default pool and of a private one, whose lies at an address; then a marker.
struct Recorded {
  std::vector<std::string> texts = {"", "sleep"};
  TraceBuilder builder{0};

  void segment(Op op, PoolId pool, Address at, Bytes size) {
    builder.add(op, builder.lane(0, pool), kNoSlot, size);
    builder.trace().addresses.push_back(at);
  }
  Recorded& with_private(Address at, Op op = Op::segment_alloc) {
    segment(Op::segment_alloc, {}, kUsual, 2 * kMiB);
    segment(op, kPool, at, 20 * kMiB);
    return *this;
  }
  std::vector<PluggablePool> pools() { return pluggable_pools(builder.finish(), texts); }
};

TEST(PluggablePools, AreThoseWhoseSegmentsLieApartFromCudaMallocs) {
  EXPECT_EQ(Recorded().with_private(0x302000000).pools(),
            (std::vector<PluggablePool>{{1, kPool, 20 * kMiB}}));
  EXPECT_TRUE(Recorded().with_private(kUsual + 40 * kMiB).pools().empty());
  EXPECT_TRUE(Recorded().with_private(kUsual - kTiB + 1).pools().empty());
}

TEST(PluggablePools, OfExpandableSegmentsNothingIsKnown) {
  EXPECT_TRUE(Recorded().with_private(0x302000000, Op::segment_map).pools().empty());
}

TEST(PluggablePools, OneSegmentBesideTheOthersIsEnoughAgainstIt) {
  Recorded recorded;
  recorded.with_private(0x302000000);
  recorded.segment(Op::segment_alloc, kPool, kUsual + 20 * kMiB, 2 * kMiB);
  EXPECT_TRUE(recorded.pools().empty());
}

TEST(PluggablePools, HoldTheMostThatTheirSegmentsCameToAtOnce) {
  Recorded recorded;
  recorded.with_private(0x302000000);
  recorded.segment(Op::segment_free, kPool, 0x302000000, 20 * kMiB);
  recorded.segment(Op::segment_alloc, kPool, 0x304000000, 6 * kMiB);
  EXPECT_EQ(recorded.pools(), (std::vector<PluggablePool>{{1, kPool, 20 * kMiB}}));
}

TEST(PluggablePools, MarkersThatSayWhatSleepsLeaveNothingOpen) {
  Recorded recorded;
  recorded.with_private(0x302000000);
  recorded.builder.add(Op::marker, recorded.builder.lane(0, kPool), kNoSlot, 0);
  recorded.builder.trace().addresses.push_back(0);
  recorded.builder.trace().tags = {0, 0, 1};
  EXPECT_TRUE(recorded.pools().empty());
}

constexpr Address kAt = 0x7f0000000000;

/// Calls of a driver: a size in MiB at an address in MiB above `kAt`; 0 returns what is there.
Trace calls(const std::vector<std::pair<std::int64_t, Bytes>>& regions, int gpu = 0) {
  TraceBuilder builder(gpu);
  std::map<std::int64_t, Bytes> held;
  for (const auto& [at, size] : regions) {
    const bool returns = size == 0;
    if (!returns) held[at] = size * kMiB;
    builder.add(returns ? Op::segment_free : Op::segment_alloc, 0, kNoSlot, held[at]);
    builder.trace().addresses.push_back(kAt + static_cast<Address>(at) * kMiB);
  }
  return builder.finish();
}

TEST(RecordedOrder, LargeRegionsThatBeginAtPiecesAreOfNvidiasDriver) {
  EXPECT_EQ(recorded_order(calls({{-32, 20}, {-64, 20}, {-12, 10}, {-160, 96}})),
            AddressPolicy::cuda_linux);
}

TEST(RecordedOrder, PackedRegionsGoUpwardUnlessAddressesComeAgain) {
  EXPECT_EQ(recorded_order(calls({{0, 20}, {20, 20}, {40, 34}, {74, 20}})), AddressPolicy::upward);
  EXPECT_EQ(recorded_order(calls({{0, 20}, {20, 20}, {0, 0}, {0, 18}, {40, 34}})),
            AddressPolicy::first_fit);
}

TEST(RecordedOrder, RegionsOfAHostEachBelowTheOneBeforeGoDownward) {
  EXPECT_EQ(recorded_order(calls({{0, 2}, {-4, 4}, {-12, 8}}, -1)), AddressPolicy::downward);
  EXPECT_EQ(recorded_order(calls({{0, 2}, {900, 4}}, -1)), AddressPolicy::upward);
  EXPECT_EQ(recorded_order(calls({{0, 2}, {-4, 4}, {-12, 8}})), AddressPolicy::upward);
}

TEST(RecordedOrder, WithoutRegionsItDoesNotShow) { EXPECT_FALSE(recorded_order(calls({}))); }

}  // namespace

}  // namespace memreplay

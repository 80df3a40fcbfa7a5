#include <gtest/gtest.h>

#include "trace/trace_builder.hpp"
#include "verify/subject.hpp"

namespace memreplay {
namespace {

constexpr Address kAt = 0x7f0000000000;

/// Calls of a driver: a size in MiB at an address in MiB above `kAt`; 0 returns what is there.
Trace calls(const std::vector<std::pair<std::int64_t, Bytes>>& regions) {
  TraceBuilder builder(0);
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

TEST(RecordedOrder, WithoutRegionsItDoesNotShow) { EXPECT_FALSE(recorded_order(calls({}))); }

}  // namespace
}  // namespace memreplay

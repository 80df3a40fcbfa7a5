#include <gtest/gtest.h>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

TEST(Bump, ThePointerOnlyMovesUp) {
  MemoryPicture m("bump", 8);
  m.alloc('A', 2).alloc('B', 3).free('A').alloc('C', 1);
  EXPECT_EQ(m.picture(), "..BBBC..");
}

TEST(Bump, AnEmptyPoolStartsAgainFromTheBottom) {
  MemoryPicture m("bump", 8);
  m.alloc('A', 3).alloc('B', 2).free('A').free('B').alloc('C', 1);
  EXPECT_EQ(m.picture(), "C.......");
}

TEST(Bump, WithResetNeverThePoolRunsOutThoughItIsEmpty) {
  MemoryPicture m("bump:reset=never", 8);
  m.alloc('A', 5).free('A').alloc('B', 5);
  EXPECT_EQ(m.picture(), "........");
  EXPECT_EQ(m.ooms(), 1);
}

TEST(Bump, AnExhaustedPoolServesNothingMore) {
  MemoryPicture m("bump:size=4", 8);
  m.alloc('A', 3).alloc('B', 2).alloc('C', 1);
  EXPECT_EQ(m.picture(), "AAAC");
  EXPECT_EQ(m.ooms(), 1);
}

TEST(Bump, SizesAndAddressesFollowTheAlignment) {
  MemoryPicture m("bump:align=4", 16);
  m.alloc('A', 1).alloc('B', 5);
  EXPECT_EQ(m.picture(), "AAAABBBBBBBB....");
}

TEST(Bump, ARequestsOwnAlignmentLeavesAHole) {
  MemoryPicture m("bump", 8);
  m.alloc('A', 1).alloc('B', 2, 4);
  EXPECT_EQ(m.picture(), "A...BB..");
}

TEST(Bump, WithoutACapacityThePoolGrowsWithThePointer) {
  MemoryPicture m("bump", std::nullopt, kMiB);
  m.alloc('A', 3).alloc('B', 1);
  EXPECT_EQ(m.picture(), "AAAB");
  m.free('A').free('B').alloc('C', 1);
  EXPECT_EQ(m.picture(), "C...");
  EXPECT_EQ(m.device().peak_held, 4 * kMiB);
}

TEST(Bump, TheReserveOfOthersMakesTheDefaultPoolSmaller) {
  SimulatedDevice device({.capacity = 11 * kMiB, .reserve = 2 * kMiB});
  const auto strategy =
      make_strategy(parse_strategy("bump"), {.device = device, .capacity = 11 * kMiB});
  EXPECT_TRUE(strategy->allocate({.size = 8 * kMiB}));
  EXPECT_FALSE(strategy->allocate({.size = 1}));
}

TEST(Bump, ASizeOfZeroAndAnOddAlignmentMeanNothing) {
  EXPECT_THROW(MemoryPicture("bump:size=0"), UsageError);
  EXPECT_THROW(MemoryPicture("bump:align=3"), UsageError);
}

/// Addresses of all blocks ever placed, from which the next follows.
class SlowBump final : public SlowModel {
 public:
  explicit SlowBump(Bytes pool) : pool_(pool) {}

  std::optional<Bytes> allocate(const Request& request) override {
    const Bytes at = round_up(top_, request.alignment);
    if (at + request.size > pool_) return std::nullopt;
    top_ = at + request.size;
    ++live_;
    return at;
  }
  void free(Bytes, const FreeOrigin&) override {
    if (--live_ == 0) top_ = 0;
  }

 private:
  Bytes pool_;
  Bytes top_ = 0;
  int live_ = 0;
};

TEST(Bump, AgreesWithASlowModelOnRandomTraces) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SlowBump model(4000);
    expect_same_placements("bump:size=4000", model, {.seed = seed, .live_at_most = 6});
  }
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include "core/error.hpp"
#include "extensions/umpire/slow_umpire.hpp"
#include "extensions/umpire/umpire_recorder.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

constexpr UmpireKind kQuick = UmpireKind::quick_pool;

TEST(UmpireQuickPoolAgainstTheOriginal, GivesTheSameRowsAndDeviceCallsInEveryRun) {
  if (!std::filesystem::exists(allocators_corpus())) GTEST_SKIP() << "corpus is not here";
  EXPECT_EQ(expect_umpire_runs("umpire-quick-pool", "quick"), 137);
}

TEST(UmpireQuickPool, OfEqualChunksTheOneThatWasFreedFirstServes) {
  MemoryPicture m("umpire-quick-pool:first=8,align=1");
  m.alloc('A', 2).alloc('B', 1).alloc('C', 2).alloc('D', 3).free('C').free('A').alloc('E', 2);
  EXPECT_EQ(m.picture(), "..BEEDDD");
}

TEST(UmpireQuickPool, WhenAllIsFreeOneBlockTakesThePlaceOfMany) {
  MemoryPicture m("umpire-quick-pool:first=4,next=4,align=1");
  m.alloc('A', 4).alloc('B', 4).free('A').free('B');
  EXPECT_EQ(m.picture(), "........");
  EXPECT_EQ(m.device().allocs, 3u);
}

TEST(UmpireQuickPool, CoalescingThatNeverEndsIsStoppedAndSaid) {
  SimulatedDevice device;
  const auto pool =
      make_strategy(parse_strategy("umpire-quick-pool:first=64,next=64,heuristic=blocks,value=1"),
                    {.device = device});
  pool->allocate({.size = 48});  // a partial chunk stays beside it
  const auto block = pool->allocate({.size = 64});
  EXPECT_TRUE(pool->testimony().remarks.empty());
  pool->free(block->handle, {});
  ASSERT_EQ(pool->testimony().remarks.size(), 1u);
  EXPECT_NE(pool->testimony().remarks[0].find("at 1 frees"), std::string::npos);
}

TEST(UmpireQuickPool, APercentAboveAHundredIsAUsageError) {
  SimulatedDevice device;
  const auto made = [&](const char* options) {
    return make_strategy(parse_strategy(std::string("umpire-quick-pool:") + options),
                         {.device = device});
  };
  EXPECT_THROW(made("value=101"), UsageError);
  EXPECT_THROW(made("align=24"), UsageError);
  EXPECT_NO_THROW(made("heuristic=blocks,value=101"));
}

TEST(UmpireQuickPool, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<UmpireOptions>> cases = {
      {"umpire-quick-pool:first=4000,next=2000", {kQuick, 4000, 2000}, {}},
      {"umpire-quick-pool:first=1,next=1,align=1,heuristic=blocks,value=3",
       {kQuick, 1, 1, 1, true, false, 3},
       {}},
      {"umpire-quick-pool:first=900,next=1,align=64,heuristic=blocks_hwm,value=5",
       {kQuick, 900, 1, 64, true, true, 5},
       {}},
      {"umpire-quick-pool:first=1,next=900,heuristic=percent",
       {kQuick, 1, 900, 16, false, false, 100},
       12'000},
      {"umpire-quick-pool:first=1,next=300,value=0", {kQuick, 1, 300, 16, false, true, 0}, 9000}};
  expect_agreement<SlowUmpire>(cases, 5, {.aligned = false, .empty_caches = true});
}

}  // namespace
}  // namespace memreplay

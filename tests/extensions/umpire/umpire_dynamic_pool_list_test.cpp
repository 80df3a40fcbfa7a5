#include <gtest/gtest.h>

#include "extensions/umpire/slow_umpire.hpp"
#include "extensions/umpire/umpire_recorder.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

constexpr UmpireKind kList = UmpireKind::dynamic_pool_list;

TEST(UmpireDynamicPoolListAgainstTheOriginal, GivesTheSameRowsAndDeviceCallsInEveryRun) {
  if (!std::filesystem::exists(allocators_corpus())) GTEST_SKIP() << "corpus is not here";
  EXPECT_EQ(expect_umpire_runs("umpire-dynamic-pool-list", "list"), 130);
}

TEST(UmpireDynamicPoolList, OfEqualChunksTheLowestServes) {
  MemoryPicture m("umpire-dynamic-pool-list:first=8,align=1");
  m.alloc('A', 2).alloc('B', 1).alloc('C', 2).alloc('D', 3).free('C').free('A').alloc('E', 2);
  EXPECT_EQ(m.picture(), "EEB..DDD");
}

TEST(UmpireDynamicPoolList, ASingleFreeBlockIsNotCoalesced) {
  MemoryPicture m("umpire-dynamic-pool-list:first=4,next=4,align=1,heuristic=blocks,value=1");
  m.alloc('A', 3).alloc('B', 4).free('B');
  EXPECT_EQ(m.picture(), "AAA.|....");
  EXPECT_EQ(m.device().frees, 0u);
}

TEST(UmpireDynamicPoolList, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<UmpireOptions>> cases = {
      {"umpire-dynamic-pool-list:first=4000,next=2000", {kList, 4000, 2000}, {}},
      {"umpire-dynamic-pool-list:first=1,next=1,align=1,heuristic=blocks,value=2",
       {kList, 1, 1, 1, true, false, 2},
       {}},
      {"umpire-dynamic-pool-list:first=900,next=1,align=64,heuristic=blocks_hwm,value=4",
       {kList, 900, 1, 64, true, true, 4},
       {}},
      {"umpire-dynamic-pool-list:first=1,next=300,heuristic=percent,value=50",
       {kList, 1, 300, 16, false, false, 50},
       12'000},
      {"umpire-dynamic-pool-list:first=1,next=300,value=0",
       {kList, 1, 300, 16, false, true, 0},
       9000}};
  expect_agreement<SlowUmpire>(cases, 5, {.aligned = false, .empty_caches = true});
}

}  // namespace
}  // namespace memreplay

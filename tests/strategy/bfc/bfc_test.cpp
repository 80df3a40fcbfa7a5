#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>
#include <string>

#include "core/error.hpp"
#include "strategy/bfc/allocator.hpp"
#include "strategy/registry.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

constexpr Bytes kUnit = bfc::kGranule;

Request upper(Bytes size, Bytes alignment = 0) {
  return {.size = size, .alignment = alignment, .upper_end = true};
}

/// One region of so many granules.
MemoryPicture region_of(Bytes granules, const std::string& options = "") {
  return MemoryPicture("bfc:allow_growth=false" + options, granules, kUnit);
}

TEST(Bfc, TheSmallestChunkThatFitsServes) {
  auto m = region_of(12);
  m.alloc('A', 4).alloc('B', 1).alloc('C', 2).alloc('D', 1).free('A').free('C').alloc('E', 2);
  EXPECT_EQ(m.picture(), "....BEED....");
}

TEST(Bfc, OfEqualChunksTheLowestServes) {
  auto m = region_of(8);
  m.alloc('A', 2).alloc('B', 1).alloc('C', 2).alloc('D', 1).alloc('X', 2);
  m.free('C').free('A').alloc('E', 2);
  EXPECT_EQ(m.picture(), "EEB..DXX");
}

TEST(Bfc, AChunkOfTwiceTheRequestIsSplit) {
  auto m = region_of(8);
  m.alloc('A', 4).alloc('B', 4).free('A').alloc('C', 2);
  EXPECT_EQ(m.picture(), "CC..BBBB");
}

TEST(Bfc, AChunkOfLessThanTwiceTheRequestIsTakenWhole) {
  auto m = region_of(6);
  m.alloc('A', 3).alloc('B', 3).free('A').alloc('C', 2);
  EXPECT_EQ(m.picture(), "CCCBBB");
  EXPECT_EQ(m.peak_allocated(), 6u);
}

TEST(Bfc, ASurplusOfTheFractionOfTheLimitIsSplitOff) {
  auto m = region_of(16, ",fragmentation_fraction=0.125");
  m.alloc('A', 6).alloc('B', 5).alloc('C', 5).free('A').alloc('D', 4);
  EXPECT_EQ(m.picture(), "DDDD..BBBBBCCCCC") << "6 - 4 granules are an eighth of 16";
  m.alloc('F', 2).free('B').alloc('E', 4);
  EXPECT_EQ(m.picture(), "DDDDFFEEEEECCCCC") << "5 - 4 are not, nor is 5 twice 4";
}

TEST(Bfc, ASurplusOf128MiBIsSplitOffAndOneGranuleLessIsNot) {
  constexpr Bytes kRule = 128 * kMiB / kUnit;
  for (const Bytes surplus : {kRule, kRule - 1}) {
    SimulatedDevice device({.granularity = 1});
    const auto strategy =
        make_strategy(parse_strategy("bfc:allow_growth=false,limit=1GiB"), {.device = device});
    const Bytes whole = 300 * kMiB;
    const auto first = strategy->allocate({.size = whole});
    const auto guard = strategy->allocate({.size = 724 * kMiB});
    ASSERT_TRUE(first && guard);
    strategy->free(first->handle, {});
    const auto second = strategy->allocate({.size = whole - surplus * kUnit});
    EXPECT_EQ(second->size, surplus == kRule ? whole - 128 * kMiB : whole);
  }
}

TEST(Bfc, AFreedChunkJoinsItsNeighbours) {
  auto m = region_of(9);
  m.alloc('A', 2).alloc('B', 3).alloc('C', 4).free('A').free('C').free('B').alloc('D', 9);
  EXPECT_EQ(m.picture(), "DDDDDDDDD");
}

TEST(Bfc, GrowthDoublesTheNextRegionUnlessARequestRaisedIt) {
  MemoryPicture m("bfc:first_region=512", 64, kUnit);
  m.alloc('A', 1);
  EXPECT_EQ(m.picture(), "A.");
  m.alloc('B', 7);
  EXPECT_EQ(m.picture(), "A.|BBBBBBBB") << "raised to 8, the surplus is less than the request";
  m.alloc('C', 3);
  EXPECT_EQ(m.picture(), "A.|BBBBBBBB|CCC.....") << "8 again: a raised size is not doubled";
  m.alloc('D', 9);
  EXPECT_EQ(m.picture(), "A.|BBBBBBBB|CCC.....|DDDDDDDDDDDDDDDD");
}

TEST(Bfc, TheLastRegionIsCutByTheLimit) {
  MemoryPicture m("bfc:first_region=1KiB", 6, kUnit);
  m.alloc('A', 3).alloc('B', 2).alloc('C', 1);
  EXPECT_EQ(m.picture(), "AAAA|BB");
  EXPECT_EQ(m.ooms(), 1);
}

TEST(Bfc, ARefusedRegionIsTriedSmallerAndTheGrowthStaysRaised) {
  SimulatedDevice device({.capacity = 905'000'000, .granularity = 1});
  const auto strategy = make_strategy(parse_strategy("bfc:allow_growth=false,limit=1073741824"),
                                      {.device = device, .capacity = 905'000'000});
  EXPECT_TRUE(strategy->allocate({.size = 1}));
  EXPECT_EQ(device.usage().held, 869'731'072u) << "nine tenths of nine tenths, in float";
  EXPECT_EQ(device.usage().refusals, 2u);
  EXPECT_TRUE(strategy->allocate({.size = 869'731'072 - 256}));
  EXPECT_TRUE(strategy->allocate({.size = 30'000'000}));
  EXPECT_EQ(device.usage().held, 869'731'072u + 34'024'192u);
}

TEST(Bfc, ARefusalByABusyDeviceDoesNotLoopForEver) {
  SimulatedDevice device({.capacity = 2 * kMiB, .reserve = 2 * kMiB, .granularity = 1});
  const auto strategy =
      make_strategy(parse_strategy("bfc:first_region=2560"), {.device = device, .capacity = kMiB});
  EXPECT_FALSE(strategy->allocate({.size = 1}));
}

TEST(Bfc, BeforeFebruary2024ItBackpedalledOnce) {
  SimulatedDevice device({.capacity = 905'000'000, .granularity = 1});
  const auto strategy =
      make_strategy(parse_strategy("bfc:allow_growth=false,limit=1073741824,backpedal_once=true"),
                    {.device = device});
  EXPECT_TRUE(strategy->allocate({.size = 869'731'072}));
  EXPECT_FALSE(strategy->allocate({.size = 30'000'000}));
}

TEST(Bfc, RegionsThatTouchStayApart) {
  MemoryPicture m("bfc:first_region=512", 16, kUnit);
  m.alloc('A', 2).alloc('B', 2).free('A').free('B').alloc('C', 5);
  EXPECT_EQ(m.picture(), "..|....|CCCCCCCC");
}

TEST(Bfc, WherePermittedRegionsThatTouchBecomeOne) {
  MemoryPicture m("bfc:first_region=512,coalesce_regions=true", 16, kUnit);
  m.alloc('A', 2).alloc('B', 2).free('A').free('B').alloc('C', 5);
  EXPECT_EQ(m.picture(), "CCCCCC") << "5 is more than half of 2 and 4 together";
}

TEST(Bfc, CollectionReturnsEveryWhollyFreeRegionButOnlyAfterGrowthFailed) {
  MemoryPicture m("bfc:first_region=512,garbage_collection=true", 16, kUnit);
  m.alloc('A', 2).alloc('B', 2).alloc('C', 3).free('A').free('C');
  EXPECT_EQ(m.picture(), "..|BB..|........");
  m.alloc('D', 12);
  EXPECT_EQ(m.picture(), "BB..|DDDDDDDDDDDD");
}

TEST(Bfc, CollectionThatCannotHelpReturnsNothing) {
  MemoryPicture m("bfc:first_region=512,garbage_collection=true", 8, kUnit);
  m.alloc('A', 2).alloc('B', 2).free('A').alloc('C', 7);
  EXPECT_EQ(m.picture(), "..|BB..");
  EXPECT_EQ(m.ooms(), 1);
}

TEST(Bfc, CollectionForMoreThanTheLimitReturnsNothing) {
  MemoryPicture m("bfc:first_region=512,garbage_collection=true,limit=2047", 16, kUnit);
  m.alloc('A', 1).free('A').alloc('B', 8);
  EXPECT_EQ(m.picture(), "..");
}

TEST(Bfc, ARegionThatWasCollectedIsForgotten) {
  SimulatedDevice simulated({.granularity = 1, .policy = AddressPolicy::first_fit});
  Ledger ledger("bfc");
  HeardDevice device(simulated, ledger);
  bfc::Allocator bfc(device,
                     {.limit = 20 * kUnit, .garbage_collection = true, .first_region = 512});
  const auto free_at_once = [&](std::initializer_list<Bytes> granules) {
    std::vector<Handle> blocks;
    for (const Bytes size : granules)
      blocks.push_back(bfc.allocate({.size = size * kUnit})->handle);
    for (const Handle block : blocks) bfc.free(block, {});
  };
  free_at_once({2, 4});  // two regions
  free_at_once({15});    // one of 16 in their place
  EXPECT_NO_THROW(free_at_once({18}));
  EXPECT_EQ(simulated.usage().allocs, 4u);
  EXPECT_EQ(simulated.usage().frees, 3u);
}

TEST(Bfc, FreedMemoryMergesWhenTheFrontierHasPassedIt) {
  auto m = region_of(4, ",timestamped=true");
  // Too large, and bound to what is safe: it only makes the allocator look at its queue.
  const Request look{.size = 5, .freed_before = 1};
  m.alloc('A', 2).alloc('B', 2).free('A').free('B').safe_frontier(2).alloc('-', look);
  EXPECT_EQ(m.strategy().free_ranges().size(), 2u) << "the count of B, 2, is not below it";
  m.safe_frontier(3).alloc('-', look);
  EXPECT_EQ(m.strategy().free_ranges().size(), 1u);
}

TEST(Bfc, StampedMemoryServesButWhatIsLeftOfItStaysApart) {
  auto m = region_of(4, ",timestamped=true");
  m.alloc('A', 2).alloc('B', 2).free('A').free('B').alloc('C', 1);
  EXPECT_EQ(m.picture(), "C...");
  EXPECT_EQ(m.strategy().free_ranges().size(), 2u);
}

TEST(Bfc, ARequestThatWouldFailMergesWhatIsNotYetSafe) {
  auto m = region_of(4, ",timestamped=true");
  m.alloc('A', 2).alloc('B', 2).free('A').free('B').alloc('C', 4);
  EXPECT_EQ(m.picture(), "CCCC");
}

TEST(Bfc, FreedBeforeAllowsItsOwnCount) {
  auto m = region_of(4, ",timestamped=true");
  m.alloc('A', 2).alloc('B', 2).free('B').free('A');
  m.alloc('C', Request{.size = 2, .freed_before = 1});
  EXPECT_EQ(m.picture(), "..CC");
  m.alloc('D', Request{.size = 2, .freed_before = 1});
  EXPECT_EQ(m.picture(), "..CC");
  EXPECT_EQ(m.ooms(), 1);
}

TEST(Bfc, ClientAlignmentLeavesAChunkBelow) {
  auto m = region_of(8);
  m.alloc('A', 1).alloc('B', 2, 4 * kUnit);
  EXPECT_EQ(m.picture(), "A...BB..");
  m.alloc('C', 3);
  EXPECT_EQ(m.picture(), "ACCCBB..");
}

TEST(Bfc, ThePreferredChunkIsTheSmallestNotTheLuckyOne) {
  auto m = region_of(12);
  m.alloc('A', 1).alloc('B', 5).alloc('C', 2).free('B').alloc('D', 1, 8 * kUnit);
  EXPECT_EQ(m.picture(), "A.....CCD...") << "4 above C are smaller than the 5 below it";
}

TEST(Bfc, BothEndsEatUpTheGap) {
  auto m = region_of(10, ",spatial=true");
  m.alloc('A', 2).alloc('B', upper(3)).alloc('C', 1).alloc('D', upper(1));
  EXPECT_EQ(m.picture(), "AAC...DBBB");
  m.free('A').alloc('E', upper(2));
  EXPECT_EQ(m.picture(), "..C.EEDBBB") << "a hole of the lower end is not for the upper one";
}

TEST(Bfc, TheChunkAtTheGapReturnsToIt) {
  auto m = region_of(10, ",spatial=true");
  m.alloc('A', 2).alloc('B', 2).alloc('C', upper(3)).free('B').alloc('D', upper(5));
  EXPECT_EQ(m.picture(), "AADDDDDCCC");
}

TEST(Bfc, UnequalTagsMergeIntoTheGap) {
  auto m = region_of(6, ",spatial=true");
  m.alloc('A', 3).alloc('B', upper(3)).free('A').free('B').alloc('C', 6);
  EXPECT_EQ(m.picture(), "CCCCCC");
}

TEST(Bfc, ADescendingPolicyPrefersTheHighestOfEqualHoles) {
  auto m = region_of(10, ",spatial=true,lower_policy=[desc,bfc]");
  m.alloc('A', 2).alloc('B', 1).alloc('C', 2).alloc('D', 1).free('A').free('C').alloc('E', 2);
  EXPECT_EQ(m.picture(), "..BEED....");
}

TEST(Bfc, AnExactPolicySplitsOffEverySurplus) {
  auto m = region_of(10, ",spatial=true,lower_policy=[asc,exact]");
  m.alloc('A', 3).alloc('B', 1).free('A').alloc('C', 2);
  EXPECT_EQ(m.picture(), "CC.B......");
}

TEST(Bfc, AtTheUpperEndAnUnsplitChunkBeginsAtItsStart) {
  auto m = region_of(10, ",spatial=true");
  m.alloc('A', upper(1)).alloc('B', upper(3)).alloc('C', upper(1)).free('B').alloc('D', upper(2));
  EXPECT_EQ(m.picture(), ".....CDDDA");
  m.free('D').alloc('E', upper(1));
  EXPECT_EQ(m.picture(), ".....C..EA");
}

TEST(Bfc, StatisticsCountWholeChunks) {
  auto m = region_of(6);
  m.alloc('A', 3).alloc('B', 3).free('A').alloc('C', 2);
  EXPECT_EQ(m.counter("bytes_in_use"), 6 * 256);
  EXPECT_EQ(m.counter("peak_bytes_in_use"), 6 * 256);
  EXPECT_EQ(m.counter("num_allocs"), 3);
  EXPECT_EQ(m.counter("largest_alloc_size"), 3 * 256);
  EXPECT_EQ(m.counter("pool_bytes"), 6 * 256);
  EXPECT_EQ(m.counter("largest_free_chunk"), 0);
}

TEST(Bfc, ManySmallSizesPeakAsTheOriginals) {
  SimulatedDevice device({.granularity = 1});
  bfc::Options options{.limit = kGiB, .allow_growth = false};
  bfc::Allocator bfc(device, options);
  std::vector<Handle> live;
  for (Bytes size = 1; size < 1024; ++size) live.push_back(bfc.allocate({.size = size})->handle);
  for (const Handle chunk : live) bfc.free(chunk, {});
  EXPECT_EQ(bfc.statistics().num_allocs, 1023);
  EXPECT_EQ(bfc.statistics().peak_bytes_in_use, 654336u);
  EXPECT_EQ(bfc.statistics().largest_alloc_size, 1024u);
  EXPECT_EQ(bfc.free_ranges().size(), 1u);
}

TEST(Bfc, FragmentationIsNoNumberForAFullPool) {
  SimulatedDevice device({.granularity = 1});
  bfc::Allocator bfc(device, {.limit = 20000, .allow_growth = false});
  EXPECT_EQ(bfc.fragmentation(), std::nullopt);
  EXPECT_EQ(bfc.occupancy_map(), "<allocator contains no memory>");
  const auto all = bfc.allocate({.size = 19968});
  EXPECT_EQ(bfc.fragmentation(), std::nullopt);
  EXPECT_EQ(bfc.occupancy_map(), std::string(100, '*'));
  bfc.free(all->handle, {});
  EXPECT_EQ(bfc.fragmentation(), 0.0);
}

TEST(Bfc, TheModernReportNamesEndsAndHumanSizes) {
  auto m = region_of(8, ",spatial=true,generation=modern");
  m.alloc('A', 3).alloc('B', upper(2));
  const std::string report = m.abilities().oom_report->oom_report(upper(9 * kUnit));
  for (const char* line :
       {"(rounded to 2304) from the upper end requested by op (driver)\n",
        "InUse at 100000000000 of size 768 tag lower next 1\n",
        "Free  at 100000000300 of size 768 tag central_gap next 2\n",
        "InUse:                          1.2KiB\n", "Spatial partitioning summary for GPU_0_bfc"}) {
    EXPECT_NE(report.find(line), std::string::npos) << line << report;
  }
}

TEST(Bfc, TheReportOf221HasUnitsInItsTotalsAlone) {
  auto classic = region_of(8, ",generation=classic");
  auto newer = region_of(8, ",generation=2.21");
  classic.alloc('A', 3);
  newer.alloc('A', 3);
  std::istringstream before(classic.abilities().oom_report->oom_report({.size = 9 * kUnit}));
  std::istringstream after(newer.abilities().oom_report->oom_report({.size = 9 * kUnit}));
  std::string a, b, changed;
  while (std::getline(before, a) && std::getline(after, b)) {
    if (a != b) changed += b + '\n';
  }
  EXPECT_TRUE(
      changed.starts_with("Total size in pool: 2.0KiB memory_limit_: 2.0KiB available size: 0B"))
      << changed;
  EXPECT_NE(changed.find("InUse:                            768B\n"), std::string::npos) << changed;
  EXPECT_EQ(std::ranges::count(changed, '\n'), 8);
}

TEST(Bfc, ChunksThatJoinedTheGapAreInNoBinOfTheReport) {
  auto m = region_of(10, ",spatial=true");
  m.alloc('A', 2).alloc('B', 2).free('A').free('B');
  const std::string report = m.abilities().oom_report->oom_report({.size = 11 * kUnit});
  EXPECT_NE(report.find("Bin (2048): \tTotal Chunks: 0,"), std::string::npos) << report;
}

TEST(Bfc, AnAlignedChunkIsCutFromTheFreeOneBeforeItAndIsInNoBin) {
  auto m = region_of(8, ",generation=modern");
  m.alloc('A', 1).alloc('B', 1, 2 * kUnit);
  EXPECT_EQ(m.picture(), "A.B.....");
  const std::string report = m.abilities().oom_report->oom_report({.size = kUnit});
  EXPECT_NE(report.find("in_use: 0 | bin_num: 0, prev:   Size: 256B | Requested Size: 256B | "
                        "in_use: 1 | bin_num: -1, next:   Size: 256B | Requested Size: 256B | "
                        "in_use: 1 | bin_num: -1\n"),
            std::string::npos)
      << report;
}

TEST(Bfc, ARequestIsCalledByItsTag) {
  SimulatedDevice device({.granularity = 1});
  const bfc::Allocator bfc(device, {.limit = kMiB}, {"", "MatMul"});
  EXPECT_EQ(bfc.op_name({.tag = 0}), "(driver)");
  EXPECT_EQ(bfc.op_name({.tag = 1}), "MatMul");
  EXPECT_EQ(bfc.op_name({.tag = 2}), "(driver)");
}

TEST(Bfc, RegionsJoinWhereTheyAreToldTo) {
  EXPECT_FALSE(joins_regions(parse_strategy("bfc")));
  EXPECT_TRUE(joins_regions(parse_strategy("bfc:coalesce_regions=true")));
}

TEST(Bfc, OptionsThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("bfc:limit=0"), UsageError);
  EXPECT_THROW(MemoryPicture("bfc:limit=1000,fragmentation_fraction=0.0001"), UsageError);
  EXPECT_THROW(MemoryPicture("bfc:spatial=true"), UsageError);
  EXPECT_THROW(MemoryPicture("bfc:lower_policy=[up,bfc]"), UsageError);
}

}  // namespace
}  // namespace memreplay

#include "device/watch/ledger.hpp"

#include <gtest/gtest.h>

#include "device/simulated_device.hpp"

namespace memreplay {
namespace {

constexpr Address kRegion = 0x10000;

Ledger with_region() {
  Ledger ledger("first-fit");
  ledger.region_given(kRegion, 0x1000);
  return ledger;
}

std::string complaint(auto action) {
  try {
    action();
  } catch (const AuditError& error) {
    return error.what();
  }
  return "none";
}

TEST(Ledger, BlocksSideBySideAreFine) {
  Ledger ledger = with_region();
  ledger.placed(0, {.size = 0x800}, {kRegion, 0x800, 0});
  ledger.placed(1, {.size = 0x800}, {kRegion + 0x800, 0x800, 1});
  ledger.freed(2, {kRegion, 0x800, 0});
  EXPECT_EQ(ledger.live_blocks(), 1u);
}

TEST(Ledger, AnOverlapNamesStrategyEventAndBothBlocks) {
  Ledger ledger = with_region();
  ledger.placed(0, {.size = 16}, {kRegion, 16, 0});
  EXPECT_EQ(complaint([&] {
              ledger.placed(41, {.size = 16}, {kRegion + 8, 16, 1});
            }),
            "strategy 'first-fit', event 41: a block overlaps the live block [0x10000, 0x10010): "
            "[0x10008, 0x10018)");
}

TEST(Ledger, ABlockMustLieInOneRegion) {
  Ledger ledger = with_region();
  ledger.region_given(kRegion + 0x1000, 0x1000);
  const auto place = [&](Address at) {
    return complaint([&] { ledger.placed(3, {.size = 16}, {at, 16, 0}); });
  };
  EXPECT_NE(place(kRegion + 0xff8).find("outside what the device gave"), std::string::npos);
  EXPECT_NE(place(kRegion - 8).find("outside what the device gave"), std::string::npos);
  EXPECT_EQ(place(kRegion + 0xff0), "none");
}

TEST(Ledger, WhereRegionsJoinABlockMayLieAcrossThoseThatTouch) {
  Ledger ledger = with_region();
  ledger.let_regions_join();
  ledger.region_given(kRegion + 0x1000, 0x1000);
  ledger.region_given(kRegion + 0x3000, 0x1000);
  EXPECT_NO_THROW(ledger.placed(1, {.size = 16}, {kRegion + 0xff8, 16, 0}));
  EXPECT_THROW(ledger.placed(2, {.size = 16}, {kRegion + 0x1ff8, 16, 1}), AuditError);
}

TEST(Ledger, ABlockMayCrossMappedPiecesButNotAHole) {
  Ledger ledger("x");
  ledger.mapped(0x1000, 0x1000);
  ledger.mapped(0x2000, 0x1000);
  ledger.placed(0, {.size = 0x2000}, {0x1000, 0x2000, 0});
  EXPECT_NE(complaint([&] { ledger.placed(1, {.size = 1}, {0x3000, 1, 1}); }), "none");
}

TEST(Ledger, AFreeOfADeadBlockIsCaught) {
  Ledger ledger = with_region();
  ledger.placed(0, {.size = 16}, {kRegion, 16, 0});
  ledger.freed(1, {kRegion, 16, 0});
  EXPECT_NE(complaint([&] {
              ledger.freed(2, {kRegion, 16, 0});
            }).find("not live"),
            std::string::npos);
}

TEST(Ledger, WrongAlignmentAndTooSmallASizeAreCaught) {
  Ledger ledger = with_region();
  EXPECT_NE(complaint([&] {
              ledger.placed(0, {.size = 8, .alignment = 64}, {kRegion + 32, 8, 0});
            }).find("not aligned to 64"),
            std::string::npos);
  EXPECT_NE(complaint([&] {
              ledger.placed(0, {.size = 9}, {kRegion, 8, 0});
            }).find("smaller"),
            std::string::npos);
}

TEST(Ledger, MemoryWhoseFreeWasRequestedIsInUseUntilTheStrategyWaits) {
  Ledger ledger = with_region();
  const Placement block{kRegion, 16, 7};
  ledger.placed(0, {.size = 16}, block);
  ledger.free_requested(1, block);
  EXPECT_NE(complaint([&] { ledger.placed(2, {.size = 16}, {kRegion, 16, 8}); }), "none");
  ledger.synchronised();
  ledger.placed(3, {.size = 16}, {kRegion, 16, 8});
  ledger.freed(4, block);
  EXPECT_EQ(ledger.live_blocks(), 1u);
}

TEST(Ledger, ReturningMemoryInUseByAStreamIsFineOnlyAfterWaiting) {
  Ledger ledger = with_region();
  ledger.placed(0, {.size = 16}, {kRegion, 16, 7});
  ledger.free_requested(1, {kRegion, 16, 7});
  Ledger impatient = ledger;
  for (Ledger* audited : {&ledger, &impatient}) audited->region_taken_back(kRegion);
  ledger.synchronised();
  EXPECT_EQ(complaint([&] { ledger.freed(2, {kRegion, 16, 7}); }), "none");
  EXPECT_NE(complaint([&] {
              impatient.freed(2, {kRegion, 16, 7});
            }).find("while a stream used it"),
            std::string::npos);
}

TEST(Ledger, MemoryReturnedUnderALiveBlockIsCaught) {
  SimulatedDevice simulated;
  Ledger ledger("x");
  HeardDevice device(simulated, ledger);
  const Address region = *device.obtain(100);
  ledger.placed(0, {.size = 100}, {region, 100, 0});
  EXPECT_THROW(device.give_back(region), AuditError);
  ledger.freed(1, {region, 100, 0});
  device.give_back(region);
}

TEST(Ledger, BytesThatTheDeviceAddedByRoundingWereNotGiven) {
  SimulatedDevice simulated;
  Ledger ledger("x");
  HeardDevice device(simulated, ledger);
  const Address region = *device.obtain(100);
  EXPECT_THROW(ledger.placed(0, {.size = 101}, {region, 101, 0}), AuditError);
}

constexpr Address kAlias = 0x900000;

/// Two ranges of a region, shown side by side elsewhere.
Ledger with_alias() {
  Ledger ledger = with_region();
  ledger.aliased(kAlias, kRegion + 0x800, 0x100);
  ledger.aliased(kAlias + 0x100, kRegion, 0x100);
  return ledger;
}

TEST(Ledger, ABlockMayLieAcrossAliases) {
  Ledger ledger = with_alias();
  ledger.placed(0, {.size = 0x180}, {kAlias, 0x180, 0});
  ledger.placed(1, {.size = 0x80}, {kRegion + 0x80, 0x80, 1});
  ledger.freed(2, {kAlias, 0x180, 0});
  ledger.placed(3, {.size = 0x80}, {kRegion, 0x80, 2});
  ledger.unaliased(kAlias);
  EXPECT_EQ(ledger.live_blocks(), 2u);
}

TEST(Ledger, AnOverlapThroughAnAliasIsSeen) {
  Ledger ledger = with_alias();
  ledger.placed(0, {.size = 0x180}, {kAlias, 0x180, 0});
  EXPECT_NE(complaint([&] { ledger.placed(1, {.size = 8}, {kRegion + 0x78, 8, 1}); }), "none");
  EXPECT_NE(complaint([&] { ledger.placed(1, {.size = 8}, {kRegion + 0x880, 8, 1}); }), "none");
}

TEST(Ledger, AnAliasMustNotGoWithABlockInItNorAfterItsMemory) {
  Ledger ledger = with_alias();
  EXPECT_NE(complaint([&] { ledger.region_taken_back(kRegion); }), "none");
  ledger.placed(0, {.size = 0x180}, {kAlias, 0x180, 0});
  EXPECT_NE(complaint([&] { ledger.unaliased(kAlias + 0x100); }), "none");
  EXPECT_NE(complaint([&] { ledger.placed(1, {.size = 8}, {kAlias + 0x200, 8, 1}); }), "none");
}

}  // namespace
}  // namespace memreplay

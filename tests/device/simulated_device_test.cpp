#include "device/simulated_device.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <stdexcept>

namespace memreplay {
namespace {

constexpr Address kBase = Address{1} << 44;

SimulatedDevice first_fit(Bytes gap = 0) {
  return SimulatedDevice({.capacity = {}, .policy = AddressPolicy::first_fit, .address_gap = gap});
}

TEST(SimulatedDevice, ARegionIsChargedInWholeGranules) {
  SimulatedDevice device;
  EXPECT_EQ(device.obtain(1), kBase);
  EXPECT_EQ(device.obtain(2 * kMiB + 1), kBase + 2 * kMiB);
  EXPECT_EQ(device.usage().held, 6 * kMiB);
}

TEST(SimulatedDevice, GranularityOneChargesEveryByteAndAlignsAsDriversDo) {
  SimulatedDevice device({.capacity = 300, .granularity = 1});
  EXPECT_EQ(device.obtain(100), kBase);
  EXPECT_EQ(device.obtain(200), kBase + 256);
  EXPECT_EQ(device.usage().held, 300u);
  EXPECT_EQ(device.obtain(1), std::nullopt);
  EXPECT_EQ(device.usage().refusals, 1u);
}

TEST(SimulatedDevice, ReservationsAndRegionsShareAnAddressSpace) {
  SimulatedDevice device({.capacity = 10 * kMiB, .address_space = 20 * kMiB});
  const auto first = device.reserve(12 * kMiB);
  ASSERT_TRUE(first);
  EXPECT_FALSE(device.reserve(12 * kMiB));
  EXPECT_EQ(device.usage().refusals, 1u);
  EXPECT_EQ(device.free_bytes(), 10 * kMiB);
  const auto region = device.obtain(8 * kMiB);
  ASSERT_TRUE(region);
  EXPECT_FALSE(device.obtain(2 * kMiB));
  device.give_back(*region);
  EXPECT_TRUE(device.obtain(2 * kMiB));
  device.release(*first);
  EXPECT_TRUE(device.reserve(18 * kMiB));
}

TEST(SimulatedDevice, TheReserveOfOthersCountsAgainstTheCapacity) {
  SimulatedDevice device({.capacity = 10 * kMiB, .reserve = 4 * kMiB});
  EXPECT_EQ(device.total_bytes(), 10 * kMiB);
  EXPECT_EQ(device.free_bytes(), 6 * kMiB);
  EXPECT_TRUE(device.obtain(6 * kMiB));
  EXPECT_FALSE(device.obtain(1));
}

TEST(SimulatedDevice, WithoutCapacityItIsNeverFullAndReportsATebibyte) {
  SimulatedDevice device;
  EXPECT_TRUE(device.obtain(3 * kTiB));
  EXPECT_TRUE(device.obtain(3 * kTiB));
  EXPECT_EQ(device.total_bytes(), kTiB);
  EXPECT_EQ(device.free_bytes(), 0u);
}

TEST(SimulatedDevice, AnImpossibleSizeIsRefused) {
  SimulatedDevice device;
  EXPECT_FALSE(device.obtain(UINT64_MAX));
  EXPECT_FALSE(device.reserve(UINT64_MAX));
}

TEST(SimulatedDevice, UpwardAddressesAreNeverGivenTwice) {
  SimulatedDevice device;
  const Address first = *device.obtain(2 * kMiB);
  device.give_back(first);
  EXPECT_EQ(device.obtain(2 * kMiB), first + 2 * kMiB);
}

TEST(SimulatedDevice, FirstFitGivesTheLowestHoleAndNeighboursJoin) {
  auto device = first_fit();
  const Address a = *device.obtain(2 * kMiB);
  const Address b = *device.obtain(2 * kMiB);
  const Address c = *device.obtain(2 * kMiB);
  device.give_back(a);
  EXPECT_EQ(device.obtain(4 * kMiB), c + 2 * kMiB);
  device.give_back(b);
  EXPECT_EQ(device.obtain(4 * kMiB), a);
}

TEST(SimulatedDevice, AReservationCostsAddressesButNoMemory) {
  auto device = first_fit();
  const Address range = *device.reserve(10 * kMiB);
  EXPECT_EQ(device.usage().held, 0u);
  EXPECT_EQ(device.obtain(2 * kMiB), range + 10 * kMiB);
  device.release(range);
  EXPECT_EQ(device.obtain(2 * kMiB), range);
}

TEST(SimulatedDevice, MappingIsAllOrNothing) {
  SimulatedDevice device({.capacity = 6 * kMiB});
  const Address range = *device.reserve(100 * kMiB);
  EXPECT_FALSE(device.map(range, 8 * kMiB, 2 * kMiB));
  EXPECT_EQ(device.usage().held, 0u);
  EXPECT_TRUE(device.map(range, 6 * kMiB, 2 * kMiB));
  device.unmap(range + 2 * kMiB, 2 * kMiB);
  EXPECT_EQ(device.usage().held, 4 * kMiB);
  EXPECT_EQ(device.usage().peak_held, 6 * kMiB);
}

TEST(SimulatedDevice, MisuseIsAnErrorOfTheStrategy) {
  SimulatedDevice device;
  EXPECT_THROW(device.give_back(123), std::logic_error);
  EXPECT_THROW(device.release(123), std::logic_error);
  const Address range = *device.reserve(4 * kMiB);
  EXPECT_THROW(device.map(range, 1, 2 * kMiB), std::logic_error);
  ASSERT_TRUE(device.map(range, 2 * kMiB, 2 * kMiB));
  EXPECT_THROW(device.map(range, 2 * kMiB, 2 * kMiB), std::logic_error);
  EXPECT_THROW(device.unmap(range, 4 * kMiB), std::logic_error);
  EXPECT_THROW(device.release(range), std::logic_error);
}

TEST(SimulatedDevice, TheAddressGapLeavesAHoleAfterEachRegion) {
  auto device = first_fit(4 * kMiB);
  EXPECT_EQ(device.obtain(2 * kMiB), kBase);
  EXPECT_EQ(device.obtain(2 * kMiB), kBase + 6 * kMiB);
}

TEST(SimulatedDevice, AdoptedRegionsAreHeldAndTheirAddressesTaken) {
  for (const AddressPolicy policy : {AddressPolicy::upward, AddressPolicy::first_fit}) {
    SimulatedDevice device({.capacity = {}, .policy = policy});
    device.adopt(kBase + 2 * kMiB, 2 * kMiB, false);
    device.adopt(0x7f0000000000, 20 * kMiB, true);
    EXPECT_EQ(device.usage().held, 22 * kMiB);
    EXPECT_EQ(device.usage().regions, 1u);
    EXPECT_EQ(device.obtain(4 * kMiB), kBase + 4 * kMiB);
    device.give_back(kBase + 2 * kMiB);
    device.unmap(0x7f0000000000, 20 * kMiB);
    EXPECT_EQ(device.usage().held, 4 * kMiB);
  }
}

TEST(SimulatedDevice, DownwardTheHighestHoleThatFitsIsTaken) {
  SimulatedDevice device({.capacity = {}, .policy = AddressPolicy::downward});
  constexpr Address kTop = Address{1} << 52;
  EXPECT_EQ(device.obtain(2 * kMiB), kTop - 2 * kMiB);
  EXPECT_EQ(device.obtain(4 * kMiB), kTop - 6 * kMiB);
  EXPECT_EQ(device.obtain(kMiB), kTop - 8 * kMiB);
  device.give_back(kTop - 6 * kMiB);
  EXPECT_EQ(device.obtain(6 * kMiB), kTop - 14 * kMiB);
  EXPECT_EQ(device.obtain(2 * kMiB), kTop - 4 * kMiB);
  EXPECT_EQ(device.usage().held, 12 * kMiB);
  EXPECT_THROW(device.give_back(kTop - 6 * kMiB), std::logic_error);
}

TEST(SimulatedDevice, DownwardRegionsLieBelowWhatIsAdopted) {
  SimulatedDevice device({.capacity = {}, .policy = AddressPolicy::downward});
  device.adopt(0x7f0000000000, 3 * kMiB, false);
  device.adopt(0x7e0000000100, 2 * kMiB, false);
  const auto region = device.obtain(2 * kMiB);
  ASSERT_TRUE(region);
  EXPECT_LE(*region + 2 * kMiB, 0x7e0000000100);
  EXPECT_GT(*region + 6 * kMiB, 0x7e0000000100);
  device.give_back(0x7f0000000000);
  EXPECT_THROW(device.adopt(*region, kMiB, false), std::logic_error);
  EXPECT_GT(*device.obtain(kMiB), 0x7eff00000000);
}

TEST(SimulatedDevice, UnderCudaLinuxRegionsGoDownAndReservationsUp) {
  SimulatedDevice device({.capacity = {}, .policy = AddressPolicy::cuda_linux});
  constexpr Address kTop = Address{1} << 47;
  const auto region = device.obtain(20 * kMiB);
  EXPECT_EQ(region, kTop - 24 * kMiB);
  EXPECT_EQ(device.reserve(20 * kMiB), kTop);
  device.adopt(0x7f0000000000, 20 * kMiB, true);
  device.adopt(0x7e0000000000, 20 * kMiB, false);
  EXPECT_EQ(device.obtain(20 * kMiB), 0x7e0000000000 - 32 * kMiB);
  EXPECT_EQ(device.obtain(2 * kMiB), 0x7e0000000000 - 12 * kMiB);
  device.give_back(0x7e0000000000);
  device.give_back(*region);
  EXPECT_EQ(device.usage().held, 42 * kMiB);
}

TEST(SimulatedDevice, UnderCudaLinuxSmallRegionsShareWhatTheyAreCharged) {
  SimulatedDevice device({.capacity = 2 * kMiB, .policy = AddressPolicy::cuda_linux});
  const auto first = device.obtain(kMiB);
  const auto second = device.obtain(kMiB - 512);
  EXPECT_EQ(*second, *first + kMiB);
  EXPECT_TRUE(device.has_room_for(512));
  EXPECT_FALSE(device.obtain(513));
  EXPECT_EQ(device.usage().held, 2 * kMiB);
  device.give_back(*first);
  EXPECT_EQ(device.usage().held, 2 * kMiB);
  device.give_back(*second);
  EXPECT_EQ(device.usage().held, 0u);
  EXPECT_EQ(device.usage().peak_regions, 2u);
}

TEST(SimulatedDevice, WithAGranularityOfItsOwnNothingIsShared) {
  SimulatedDevice device({.granularity = kMiB, .policy = AddressPolicy::cuda_linux});
  device.obtain(512);
  device.obtain(512);
  EXPECT_EQ(device.usage().held, 2 * kMiB);
}

TEST(SimulatedDevice, WhatIsObtainedAtARecordedAddressIsInTheWayOfOthers) {
  for (const AddressPolicy policy :
       {AddressPolicy::first_fit, AddressPolicy::cuda_linux, AddressPolicy::downward}) {
    SimulatedDevice device({.capacity = {}, .policy = policy});
    const Address first = *device.obtain(32 * kMiB);
    device.give_back(first);
    device.obtain_at(first, 32 * kMiB);
    const Address second = *device.obtain(32 * kMiB);
    EXPECT_NE(second, first);
    device.give_back(first);
    device.give_back(second);
    EXPECT_EQ(device.obtain(32 * kMiB), first);
  }
}

TEST(SimulatedDevice, NothingIsPlacedWhereAnAdoptedReservationMayStillGrow) {
  for (const auto policy : {AddressPolicy::upward, AddressPolicy::first_fit}) {
    SimulatedDevice device({.capacity = 64 * kMiB, .policy = policy});
    device.adopt(kBase, 2 * kMiB, true);
    device.adopt(kBase + 10 * kMiB, 4 * kMiB, true);
    const auto region = device.obtain(2 * kMiB);
    ASSERT_TRUE(region);
    EXPECT_GE(*region, kBase + 10 * kMiB + 72 * kMiB);
    EXPECT_TRUE(device.virtual_memory()->map(kBase + 14 * kMiB, 40 * kMiB, 2 * kMiB));
  }
}

TEST(SimulatedDevice, AnAdoptedReservationEndsAtAWholeGranule) {
  SimulatedDevice device({.capacity = kGiB});
  device.adopt(kBase, 20 * kMiB, true);
  const Bytes length = round_up(kGiB + kGiB / 8, 20 * kMiB);
  EXPECT_GE(*device.reserve(2 * kMiB), kBase + length);
  EXPECT_TRUE(device.map(kBase + length - 20 * kMiB, 20 * kMiB, 20 * kMiB));
}

TEST(SimulatedDevice, AnAdoptedRegionThatIsReturnedIsAHoleAgain) {
  auto device = first_fit();
  device.adopt(kBase + kMiB, kMiB / 2, false);
  device.give_back(kBase + kMiB);
  EXPECT_EQ(device.obtain(2 * kMiB), kBase);
}

TEST(SimulatedDevice, ACopyGoesItsOwnWay) {
  SimulatedDevice device({.capacity = 4 * kMiB});
  const Address region = *device.obtain(2 * kMiB);
  const auto copy = device.clone();
  EXPECT_TRUE(copy->obtain(2 * kMiB));
  EXPECT_EQ(device.usage().held, 2 * kMiB);
  copy->give_back(region);
  device.give_back(region);
}

TEST(SimulatedDevice, FirstFitAgreesWithASlowModel) {
  auto device = first_fit();
  std::map<Address, Address> taken;  // the obvious model: every address from the bottom
  std::mt19937_64 random(7);
  for (int step = 0; step < 5000; ++step) {
    if (taken.size() > 40 || (!taken.empty() && random() % 2)) {
      const auto victim =
          std::next(taken.begin(), static_cast<std::ptrdiff_t>(random() % taken.size()));
      device.give_back(victim->first);
      taken.erase(victim);
      continue;
    }
    const Bytes size = 1 + random() % (16 * kMiB);
    const Bytes whole = round_up(size, 2 * kMiB);
    Address expected = kBase;
    for (const auto& [from, to] : taken) {
      if (from - expected >= whole) break;
      expected = to;
    }
    ASSERT_EQ(device.obtain(size), expected) << "step " << step;
    taken.emplace(expected, expected + whole);
  }
}

TEST(SimulatedDevice, AnAliasIsChargedNothing) {
  SimulatedDevice device({.capacity = 20 * kMiB});
  const auto region = device.obtain(20 * kMiB);
  const auto range = device.reserve(8 * kMiB);
  device.alias(*range, *region + 4 * kMiB, 8 * kMiB, 2 * kMiB);
  EXPECT_EQ(device.usage().held, 20 * kMiB);
  EXPECT_EQ(device.usage().maps, 4u);
  EXPECT_THROW(device.release(*range), std::logic_error);
  device.unalias(*range);
  device.release(*range);
  EXPECT_EQ(device.usage().unmaps, 4u);
  EXPECT_THROW(device.unalias(*range), std::logic_error);
}

// A damaged snapshot may say that a segment reaches over all addresses of a process.
TEST(SimulatedDevice, ARegionOverTheTopOfAProcessIsAdoptedAndLaterOnesLieElsewhere) {
  constexpr Address kAt = Address{1} << 46;
  constexpr Bytes kSize = Bytes{1} << 53;
  SimulatedDevice device({.policy = AddressPolicy::cuda_linux});
  device.adopt(kAt, kSize, false);
  const auto next = device.obtain(20 * kMiB);
  ASSERT_TRUE(next);
  EXPECT_TRUE(*next + 20 * kMiB <= kAt || *next >= kAt + kSize);
}

}  // namespace
}  // namespace memreplay

#include "gpu/device_memory.hpp"

#include <gtest/gtest.h>

#include <list>

namespace memreplay::gpu {
namespace {

constexpr Address kFrom = 0x7000'0000'0000;

constexpr AddressRange granules(Bytes count) { return {kFrom, kFrom + count * kGranule}; }

constexpr Address granule(Bytes number) { return kFrom + number * kGranule; }

/// A card that no other process has, without a context.
DeviceCard card_of(Bytes capacity) {
  static std::list<SharedCards> all;
  return {all.emplace_back(), 0, capacity, 0};
}

TEST(Window, GivesTheLowestHoleThatFits) {
  Window window(granules(6));
  EXPECT_EQ(window.take(2 * kGranule), granule(0));
  EXPECT_EQ(window.take(1), granule(2));
  EXPECT_EQ(window.take(kGranule), granule(3));
  EXPECT_EQ(window.give_back(granule(0)), 2 * kGranule);
  EXPECT_EQ(window.give_back(granule(3)), kGranule);
  EXPECT_EQ(window.take(3 * kGranule), granule(3));
  EXPECT_EQ(window.take(kGranule), granule(0));
}

TEST(Window, JoinsWhatIsGivenBack) {
  Window window(granules(3));
  for (Bytes i = 0; i < 3; ++i) EXPECT_EQ(window.take(kGranule), granule(i));
  EXPECT_EQ(window.take(1), std::nullopt);
  for (const Bytes i : {0, 2, 1}) EXPECT_EQ(window.give_back(granule(i)), kGranule);
  EXPECT_EQ(window.take(3 * kGranule), granule(0));
}

TEST(Window, TakesBackWhatBeganThereAlone) {
  Window window(granules(4));
  window.take(2 * kGranule);
  EXPECT_EQ(window.give_back(granule(1)), std::nullopt);
  EXPECT_EQ(window.give_back(granule(3)), std::nullopt);
  EXPECT_EQ(window.give_back(granule(0)), 2 * kGranule);
  EXPECT_EQ(window.give_back(granule(0)), std::nullopt);
}

TEST(Window, KnowsTheRangeOfAByte) {
  Window window(granules(4));
  window.take(kGranule + 1);
  EXPECT_EQ(window.holding(granule(2) - 1), (AddressRange{granule(0), granule(2)}));
  EXPECT_EQ(window.holding(granule(2)), std::nullopt);
  EXPECT_EQ(window.holding(kFrom - 1), std::nullopt);
  EXPECT_TRUE(window.contains(granule(4) - 1));
  EXPECT_FALSE(window.contains(granule(4)));
}

TEST(DeviceMemory, SmallOnesShareAGranuleInTheDriversOrder) {
  DeviceMemory memory(card_of(kGranule), granules(1 << 10), AddressPolicy::cuda_linux);
  const auto first = memory.allocate(1000);
  const auto second = memory.allocate(kGranule - 1024);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*second, *first + 1024);
  EXPECT_EQ(memory.used, kGranule);
  EXPECT_EQ(memory.allocate(1), std::nullopt);
  EXPECT_TRUE(memory.free(*first));
  EXPECT_EQ(memory.used, kGranule);
  EXPECT_TRUE(memory.free(*second));
  EXPECT_EQ(memory.used, 0u);
}

TEST(DeviceMemory, IsFullAtExactlyItsCapacity) {
  DeviceMemory memory(card_of(3 * kGranule), granules(100));
  EXPECT_EQ(memory.allocate(2 * kGranule), granule(0));
  EXPECT_EQ(memory.allocate(kGranule + 1), std::nullopt);
  EXPECT_EQ(memory.allocate(kGranule), granule(2));
  EXPECT_EQ(memory.free_bytes(), 0);
  EXPECT_EQ(memory.allocate(1), std::nullopt);
  EXPECT_TRUE(memory.free(granule(0)));
  EXPECT_FALSE(memory.free(granule(0)));
  EXPECT_EQ(memory.used, kGranule);
  EXPECT_EQ(memory.peak, 3 * kGranule);
}

TEST(DeviceMemory, OfNoWholeGranuleKeepsItsRest) {
  DeviceMemory memory(card_of(kGranule + kGranule / 2), granules(4));
  EXPECT_TRUE(memory.allocate(1));
  EXPECT_FALSE(memory.allocate(1));
}

TEST(DeviceMemory, RefusesASizeThatOverflows) {
  DeviceMemory memory(card_of(3 * kGranule), granules(4));
  EXPECT_EQ(memory.allocate(~Bytes{0}), std::nullopt);
  EXPECT_EQ(memory.used, 0);
}

TEST(DeviceMemory, WithoutAddressesChargesNothing) {
  DeviceMemory memory(card_of(9 * kGranule), granules(2));
  EXPECT_EQ(memory.allocate(3 * kGranule), std::nullopt);
  EXPECT_EQ(memory.used, 0);
}

TEST(DeviceMemory, HasAContextFromItsFirstUseOn) {
  SharedCards cards;
  DeviceMemory memory({cards, 0, 5 * kGranule, 2 * kGranule}, granules(9));
  EXPECT_EQ(cards.used(0), 0);
  EXPECT_TRUE(memory.use());
  EXPECT_TRUE(memory.charge(kGranule));
  EXPECT_EQ(cards.used(0), 3 * kGranule);
  EXPECT_EQ(memory.used, kGranule);
  EXPECT_FALSE(memory.charge(3 * kGranule));
}

TEST(DeviceMemory, WithoutRoomForItsContextServesNothing) {
  SharedCards cards;
  DeviceMemory memory({cards, 0, 5 * kGranule, 6 * kGranule}, granules(9));
  EXPECT_FALSE(memory.use());
  EXPECT_FALSE(memory.allocate(1));
  EXPECT_EQ(cards.used(0), 0);
}

}  // namespace
}  // namespace memreplay::gpu

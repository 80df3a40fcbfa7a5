#include "core/address_table.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <random>

namespace memreplay {
namespace {

bool begins_a_huge_page(const void* memory) {
  return reinterpret_cast<std::uintptr_t>(memory) % (2 * kMiB) == 0;
}

TEST(HugePages, ATableThatGrowsKeepsItsRows) {
  TableOf<std::uint64_t> table;
  for (std::uint64_t row = 0; row < 2'000'000; ++row) table.push_back(row * row);
  EXPECT_TRUE(begins_a_huge_page(table.data()));
  const TableOf<std::uint64_t> copy = table;
  table.resize(10);
  table.shrink_to_fit();
  EXPECT_EQ(table.back(), 81u);
  for (std::uint64_t row = 0; row < copy.size(); ++row) ASSERT_EQ(copy[row], row * row);
}

TEST(HugePages, RowsNeedNotFillAPage) {
  struct Row {
    char text[7] = "abcdef";
  };
  TableOf<Row> table(700'001);
  EXPECT_TRUE(begins_a_huge_page(table.data()));
  EXPECT_STREQ(table.back().text, "abcdef");
}

TEST(HugePages, WhatCannotBeThereIsRefused) {
  HugePages<std::uint64_t> pages;
  EXPECT_ANY_THROW(pages.allocate(std::numeric_limits<std::size_t>::max()));
  EXPECT_ANY_THROW(pages.allocate(std::numeric_limits<std::size_t>::max() / 32));
}

TEST(AddressTable, AgreesWithAMapOnRandomUse) {
  AddressTable<int> table;
  std::map<Address, int> model;
  std::mt19937_64 random(1);
  for (int i = 0; i < 200000; ++i) {
    // Few distinct addresses, so that probes run into each other and holes close.
    const Address address = (random() % 700) * 512;
    if (model.contains(address) && random() % 2 == 0) {
      table.erase(address);
      model.erase(address);
    } else {
      const auto [value, fresh] = table.emplace(address);
      EXPECT_EQ(fresh, !model.contains(address));
      *value = model[address] = i;
    }
    const Address asked = (random() % 700) * 512;
    const int* found = table.find(asked);
    ASSERT_EQ(found != nullptr, model.contains(asked));
    if (found != nullptr) {
      ASSERT_EQ(*found, model[asked]);
    }
  }
}

TEST(AddressTable, TheHighestAndTheLowestAddressAreAddressesLikeAnyOther) {
  AddressTable<int> table;
  EXPECT_EQ(table.find(0), nullptr);
  *table.emplace(0).first = 1;
  *table.emplace(UINT64_MAX).first = 2;
  EXPECT_EQ(*table.find(0), 1);
  EXPECT_EQ(*table.find(UINT64_MAX), 2);
}

TEST(AddressTable, EveryValueIsVisitedOnce) {
  AddressTable<int> table;
  for (int i = 1; i <= 1000; ++i) *table.emplace(Address(i) * 256).first = i;
  for (int i = 1; i <= 1000; i += 2) table.erase(Address(i) * 256);
  int visits = 0;
  table.for_each([&](Address address, int value) {
    EXPECT_EQ(address, Address(value) * 256);
    EXPECT_EQ(value % 2, 0);
    ++visits;
  });
  EXPECT_EQ(visits, 500);
}

}  // namespace

}  // namespace memreplay

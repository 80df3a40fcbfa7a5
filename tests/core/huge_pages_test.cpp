#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <numeric>

#include "core/address_table.hpp"

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

}  // namespace
}  // namespace memreplay

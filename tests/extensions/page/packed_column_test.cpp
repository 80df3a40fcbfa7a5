#include "extensions/page/packed_column.hpp"

#include <gtest/gtest.h>

#include <initializer_list>

namespace memreplay {
namespace {

std::string bytes(std::initializer_list<int> values) {
  std::string text;
  for (const int value : values) text += static_cast<char>(value);
  return text;
}

TEST(PackedColumn, NumbersTakeSevenBitsAByteTheLowestFirst) {
  PackedColumn column;
  for (const std::uint64_t value : {0u, 127u, 128u, 300u}) column.number(value);
  EXPECT_EQ(column.bytes(), bytes({0, 127, 0x80, 1, 0xAC, 2}));
}

TEST(PackedColumn, TheLargestNumberTakesTenBytes) {
  PackedColumn column;
  column.number(UINT64_MAX);
  EXPECT_EQ(column.bytes(), std::string(9, '\xFF') + '\x01');
}

TEST(PackedColumn, SignedNumbersAlternateAroundZero) {
  PackedColumn column;
  for (const std::int64_t value : {0, -1, 1, -2, 2, -64}) column.signed_number(value);
  EXPECT_EQ(column.bytes(), bytes({0, 1, 2, 3, 4, 127}));
}

TEST(PackedColumn, StepsAreDifferencesToTheLast) {
  PackedColumn column;
  for (const std::uint64_t value : {5u, 7u, 4u}) column.step(value);
  EXPECT_EQ(column.bytes(), bytes({10, 4, 5}));
}

}  // namespace
}  // namespace memreplay

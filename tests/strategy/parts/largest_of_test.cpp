#include "strategy/parts/largest_of.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

namespace memreplay {
namespace {

TEST(LargestOf, OfNothingIsNothing) {
  LargestOf largest;
  EXPECT_EQ(largest.get([](std::uint32_t) { return Bytes{7}; }), 0u);
}

TEST(LargestOf, IsThatOfAllWhicheverChanged) {
  std::mt19937 random(1);
  std::vector<Bytes> values(37, 0);
  LargestOf largest;
  for (std::uint32_t member = 0; member < values.size(); ++member) largest.note(member);
  for (int i = 0; i < 4000; ++i) {
    const auto member = static_cast<std::uint32_t>(random() % values.size());
    switch (random() % 3) {
      case 0:
        values[member] = random() % 1000;
        largest.note(member);
        break;
      case 1:
        values[member] += random() % 10;
        largest.note(member, values[member] + random() % 10);
        break;
      default:
        values[member] /= 2;  // needs no note
    }
    if (random() % 4 != 0) continue;
    ASSERT_EQ(largest.get([&](std::uint32_t of) { return values[of]; }),
              *std::ranges::max_element(values));
  }
}

TEST(LargestOf, AsksThoseThatChangedAlone) {
  LargestOf largest;
  int asked = 0;
  const auto value = [&](std::uint32_t member) { return ++asked, Bytes{member}; };
  for (std::uint32_t member = 0; member < 1000; ++member) {
    largest.note(member);
    EXPECT_EQ(largest.get(value), member);
  }
  EXPECT_EQ(asked, 1000);
}

TEST(LargestOf, AsksNobodyWhoCannotBeTheLargest) {
  LargestOf largest;
  int asked = 0;
  const auto value = [&](std::uint32_t member) { return ++asked, Bytes{member}; };
  for (std::uint32_t member = 0; member < 1000; ++member) largest.note(member);
  EXPECT_EQ(largest.get(value), 999u);
  EXPECT_EQ(asked, 1000);
  for (std::uint32_t member = 0; member < 999; ++member) largest.note(member, 998);
  EXPECT_EQ(largest.get(value), 999u);
  EXPECT_EQ(asked, 1001);
}

}  // namespace
}  // namespace memreplay

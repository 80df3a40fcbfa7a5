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
  for (int i = 0; i < 2000; ++i) {
    const auto member = static_cast<std::uint32_t>(random() % values.size());
    values[member] = random() % 3 == 0 ? 0 : random() % 1000;
    largest.note(member);
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

}  // namespace
}  // namespace memreplay

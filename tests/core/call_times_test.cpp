#include "core/call_times.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

namespace memreplay {
namespace {

TEST(Durations, NothingAddedIsNothing) {
  const Durations none;
  EXPECT_EQ(none.count(), 0u);
  EXPECT_EQ(none.quantile(0.5), 0u);
  EXPECT_EQ(none.largest(), 0u);
}

TEST(Durations, SmallNumbersAreExact) {
  Durations durations;
  for (const std::uint64_t ns : {5, 1, 3, 2, 4}) durations.add(ns);
  EXPECT_EQ(durations.count(), 5u);
  EXPECT_EQ(durations.sum(), 15u);
  EXPECT_EQ(durations.quantile(0.5), 3u);
  EXPECT_EQ(durations.quantile(1), 5u);
  EXPECT_EQ(durations.quantile(0.2), 1u);
}

TEST(Durations, QuantilesAreAtMostOnePartIn64TooLarge) {
  std::mt19937_64 random(7);
  Durations durations;
  std::vector<std::uint64_t> all;
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t ns = random() >> (random() % 64);
    durations.add(ns / 20'000);
    all.push_back(ns / 20'000);
  }
  std::sort(all.begin(), all.end());
  for (const double share : {0.01, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(all.size())));
    const std::uint64_t exact = all[rank - 1];
    EXPECT_GE(durations.quantile(share), exact);
    EXPECT_LE(durations.quantile(share), exact + exact / 64) << share;
  }
}

TEST(Durations, TheLargestPossibleHasABucket) {
  Durations durations;
  durations.add(UINT64_MAX);
  EXPECT_EQ(durations.quantile(0.5), UINT64_MAX);
}

TEST(Durations, TwoTogetherAreAsIfAddedToOne) {
  Durations a, b, both;
  for (std::uint64_t ns = 1; ns < 5000; ns += 7) {
    (ns % 2 ? a : b).add(ns);
    both.add(ns);
  }
  a.add(b);
  EXPECT_EQ(a.count(), both.count());
  EXPECT_EQ(a.sum(), both.sum());
  EXPECT_EQ(a.quantile(0.99), both.quantile(0.99));
}

}  // namespace
}  // namespace memreplay

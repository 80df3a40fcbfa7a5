#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "extensions/what_if/vary/calls.hpp"

namespace memreplay {
namespace {

using Items = std::vector<AlignItem>;

/// Items of these keys, each of a block of its own of 512 bytes.
Items items(const std::string& keys) {
  Items made;
  for (const char key : keys) {
    made.push_back(
        {static_cast<std::uint32_t>(key), static_cast<std::uint32_t>(made.size()), 512, key < 'a'});
  }
  return made;
}

int total(const Items& first, const Items& second, const std::vector<AlignedPair>& pairs,
          const ParameterValues& values) {
  int sum = 0;
  for (const auto& [i, j] : pairs) sum += pairing_score(first[i].size, second[j].size, values);
  return sum;
}

/// The highest total score there is: every cell of the whole table.
int best_total(const Items& first, const Items& second, const ParameterValues& values) {
  std::vector<std::vector<int>> best(first.size() + 1, std::vector<int>(second.size() + 1));
  for (std::size_t i = 1; i <= first.size(); ++i) {
    for (std::size_t j = 1; j <= second.size(); ++j) {
      best[i][j] = std::max(best[i - 1][j], best[i][j - 1]);
      if (first[i - 1].key != second[j - 1].key) continue;
      const int score = pairing_score(first[i - 1].size, second[j - 1].size, values);
      best[i][j] = std::max(best[i][j], best[i - 1][j - 1] + score);
    }
  }
  return best.back().back();
}

void expect_valid(const Items& first, const Items& second, const std::vector<AlignedPair>& pairs) {
  for (std::size_t p = 0; p < pairs.size(); ++p) {
    ASSERT_LT(pairs[p].first, first.size());
    ASSERT_LT(pairs[p].second, second.size());
    EXPECT_EQ(first[pairs[p].first].key, second[pairs[p].second].key);
    if (p == 0) continue;
    EXPECT_LT(pairs[p - 1].first, pairs[p].first);
    EXPECT_LT(pairs[p - 1].second, pairs[p].second);
  }
}

TEST(Align, SequencesOfOneShapePairOneToOne) {
  EXPECT_EQ(align(items("abab"), items("abab"), {2, 4}),
            (std::vector<AlignedPair>{{0, 0}, {1, 1}, {2, 2}, {3, 3}}));
}

TEST(Align, WhatIsInOneAloneIsLeftOut) {
  EXPECT_EQ(align(items("abc"), items("axxbc"), {2, 4}),
            (std::vector<AlignedPair>{{0, 0}, {1, 3}, {2, 4}}));
}

TEST(Align, SizesThatGrowWithTheValuePairBeforeOthers) {
  Items first = items("aa");
  Items second = items("aaa");
  first[0].size = 100;
  first[1].size = 800;
  second[0].size = 200;
  second[1].size = 7;
  second[2].size = 1600;
  EXPECT_EQ(align(first, second, {2, 4}), (std::vector<AlignedPair>{{0, 0}, {1, 2}}));
}

TEST(Align, AnchorsHoldWhatLiesBetweenThemTogether) {
  EXPECT_EQ(align(items("aaAbb"), items("Abb"), {2, 4}),
            (std::vector<AlignedPair>{{2, 0}, {3, 1}, {4, 2}}));
}

TEST(Align, OneOfThemMayBeEmpty) {
  EXPECT_TRUE(align(items(""), items("ab"), {2, 4}).empty());
  EXPECT_TRUE(align(items("ab"), items(""), {2, 4}).empty());
  EXPECT_TRUE(align_in_band(items("ab"), items(""), {2, 4}, 1).empty());
}

TEST(Align, AWideBandFindsTheHighestScoreThatThereIs) {
  std::mt19937 random(7);  // NOLINT: the same every time
  for (int round = 0; round < 300; ++round) {
    const auto draw = [&] {
      Items drawn;
      const std::size_t length = random() % 20;
      for (std::size_t i = 0; i < length; ++i) {
        const Bytes sizes[] = {100, 200, 400, 57, 64};
        drawn.push_back({static_cast<std::uint32_t>(random() % 3), static_cast<std::uint32_t>(i),
                         sizes[random() % 5], false});
      }
      return drawn;
    };
    const Items first = draw();
    const Items second = draw();
    const auto pairs = align_in_band(first, second, {2, 4}, 40);
    expect_valid(first, second, pairs);
    EXPECT_EQ(total(first, second, pairs, {2, 4}), best_total(first, second, {2, 4}));
  }
}

TEST(Align, ANarrowBandStillReachesTheEnds) {
  std::mt19937 random(8);  // NOLINT: the same every time
  for (int round = 0; round < 300; ++round) {
    Items first(random() % 12);
    Items second(random() % 90);
    for (AlignItem& item : first) item.key = random() % 2;
    for (AlignItem& item : second) item.key = random() % 2;
    expect_valid(first, second, align_in_band(first, second, {2, 4}, 1));
    expect_valid(second, first, align_in_band(second, first, {2, 4}, 1));
  }
}

}  // namespace
}  // namespace memreplay

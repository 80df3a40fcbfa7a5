#include "strategy/parts/free_blocks.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace memreplay {
namespace {

bool same(const FreeBlock& a, const FreeBlock& b) {
  return a.size == b.size && a.rank == b.rank && a.block == b.block;
}

// Both in order, and the search from every size that a request may have.
void expect_same(const FreeBlocks& tested, const std::set<FreeBlock>& model, Bytes wanted) {
  ASSERT_EQ(tested.size(), model.size());
  const auto expected = model.lower_bound({.size = wanted});
  const auto at = tested.lower_bound(wanted);
  ASSERT_EQ(at.at_end(), expected == model.end());
  if (at.at_end()) {
    ASSERT_EQ(tested.previous(at).at_end(), model.empty());
    return;
  }
  ASSERT_TRUE(same(tested[at], *expected));
  const auto after = tested.next(at);
  ASSERT_EQ(after.at_end(), std::next(expected) == model.end());
  if (!after.at_end()) {
    ASSERT_TRUE(same(tested[after], *std::next(expected)));
    ASSERT_EQ(tested.previous(after), at);
  }
}

Bytes random_size(std::mt19937_64& random, bool few_sizes) {
  if (few_sizes) return 512 * (1 + random() % 5);
  return 512 * (1 + (random() % (Bytes{1} << (random() % 28))));
}

TEST(FreeBlocks, HoldsTheOrderOfAPlainSet) {
  for (const bool few_sizes : {false, true}) {
    std::mt19937_64 random(7);
    FreeBlocks tested;
    std::set<FreeBlock> model;
    std::vector<FreeBlock> all;
    for (Handle step = 0; step < 20'000; ++step) {
      const bool grows = all.size() < 5 || random() % 100 < (step / 2000 % 2 == 0 ? 70 : 30);
      if (grows) {
        const FreeBlock block{random_size(random, few_sizes), random(), step};
        tested.insert(block);
        model.insert(block);
        all.push_back(block);
      } else {
        std::swap(all[random() % all.size()], all.back());
        tested.erase(all.back());
        model.erase(all.back());
        all.pop_back();
      }
      expect_same(tested, model, random_size(random, few_sizes));
      if (HasFatalFailure()) return;
    }
    std::vector<FreeBlock> walked;
    tested.for_each([&](const FreeBlock& block) { walked.push_back(block); });
    EXPECT_TRUE(std::equal(walked.begin(), walked.end(), model.begin(), model.end(), same));
    EXPECT_EQ(tested.largest(), model.rbegin()->size);
  }
}

TEST(FreeBlocks, ACopyGoesItsOwnWay) {
  FreeBlocks original;
  for (Handle block = 0; block < 100; ++block) original.insert({512, block, block});
  FreeBlocks copy = original;
  copy.erase(FreeBlock{512, 0, 0});
  EXPECT_EQ(original[original.begin()].rank, 0u);
  EXPECT_EQ(copy[copy.begin()].rank, 1u);
}

TEST(FreeBlocks, AnEmptyOneFindsNothing) {
  FreeBlocks blocks;
  EXPECT_TRUE(blocks.lower_bound(512).at_end());
  EXPECT_TRUE(blocks.begin().at_end());
  EXPECT_EQ(blocks.largest(), 0u);
  blocks.insert({1 << 30, 1, 1});
  blocks.erase(blocks.begin());
  EXPECT_TRUE(blocks.lower_bound(512).at_end());
  EXPECT_TRUE(blocks.previous({}).at_end());
}

}  // namespace
}  // namespace memreplay

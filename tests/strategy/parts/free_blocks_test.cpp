#include "strategy/parts/free_blocks.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>
#include <vector>

namespace memreplay {
namespace {

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
  ASSERT_EQ(tested[at], *expected);
  const auto after = tested.next(at);
  ASSERT_EQ(after.at_end(), std::next(expected) == model.end());
  if (!after.at_end()) {
    ASSERT_EQ(tested[after], *std::next(expected));
    ASSERT_EQ(tested.previous(after), at);
  }
}

enum class Sizes { many, few, large, odd };

Bytes random_size(std::mt19937_64& random, Sizes sizes) {
  if (sizes == Sizes::few) return 512 * (random() % 6);
  const Bytes units = 1 + (random() % (Bytes{1} << (random() % 28)));
  if (sizes == Sizes::large && random() % 2 == 0) return units << 20;
  return sizes == Sizes::odd ? units : units * 512;
}

class FreeBlocksOf : public testing::TestWithParam<Sizes> {};

// Random changes; `share` of them, in per cent, are insertions where so many blocks are there.
template <typename Share>
void compare_with_plain_set(FreeBlocks tested, Sizes sizes, std::uint64_t seed, Handle steps,
                            const Share& share) {
  std::mt19937_64 random(seed);
  std::set<FreeBlock> model;
  std::vector<FreeBlock> all;
  std::map<Handle, FreeBlocks::Place> places;
  const auto lies_at = [&](Handle block, FreeBlocks::Place place) { places[block] = place; };
  for (Handle step = 0; step < steps; ++step) {
    const bool grows = all.empty() || random() % 100 < share(step, all.size());
    // The first odd size comes late: what is there by then is counted anew.
    const Sizes now = sizes == Sizes::odd && step < steps / 20 ? Sizes::large : sizes;
    if (grows) {
      const FreeBlock block{random_size(random, now), random(), step};
      tested.insert(block, lies_at);
      model.insert(block);
      all.push_back(block);
    } else {
      std::swap(all[random() % all.size()], all.back());
      const FreeBlock gone = all.back();
      if (random() % 2 == 0) {
        tested.erase(gone);
      } else {
        tested.erase(gone.block, places.at(gone.block), [&] { return gone; });
      }
      model.erase(gone);
      all.pop_back();
    }
    expect_same(tested, model, random_size(random, now));
    if (testing::Test::HasFatalFailure()) return;
  }
  std::vector<FreeBlock> walked;
  tested.for_each([&](const FreeBlock& block) { walked.push_back(block); });
  EXPECT_TRUE(std::equal(walked.begin(), walked.end(), model.begin(), model.end()));
  EXPECT_EQ(tested.largest(), model.empty() ? 0 : model.rbegin()->size);
}

TEST_P(FreeBlocksOf, TheOrderIsThatOfAPlainSet) {
  for (const bool one_of_many : {false, true}) {
    const FreeBlocks tested(9, one_of_many);
    compare_with_plain_set(tested, GetParam(), 7, 20'000, [](Handle step, std::size_t count) {
      return count < 5 ? 100u : step / 2000 % 2 == 0 ? 70u : 30u;
    });
    if (HasFatalFailure()) return;
  }
}

TEST_P(FreeBlocksOf, AFewAreInOrderToo) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    const FreeBlocks tested(9, seed % 2 == 0);
    compare_with_plain_set(tested, GetParam(), seed, 200, [&](Handle step, std::size_t count) {
      return step < 150 && count > 12 + seed % 10 ? 20u : 60u;
    });
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(AllSizes, FreeBlocksOf,
                         testing::Values(Sizes::many, Sizes::few, Sizes::large, Sizes::odd));

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

#include "analysis/recorded/place_matching.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

using Names = std::vector<std::string>;

TEST(PlaceMatching, TheSameNameIsTheSamePlace) {
  const auto pairs = match_places({"a.py:1 f", "at::empty"}, {"a.py:1 f", "at::empty"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].before, Names{"a.py:1 f"});
  EXPECT_EQ(pairs[0].now, Names{"a.py:1 f"});
  EXPECT_EQ(pairs[1].name, "at::empty");
}

TEST(PlaceMatching, LinesThatMovedTogetherAreTheSameInOrder) {
  const auto pairs = match_places({"a.py:9 f", "a.py:10 f"}, {"a.py:10 f", "a.py:11 f"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].before, Names{"a.py:9 f"});
  EXPECT_EQ(pairs[0].name, "a.py:10 f");
  EXPECT_EQ(pairs[1].now, Names{"a.py:11 f"});
}

TEST(PlaceMatching, ALineThatIsGoneLeavesTheOthersAsTheyWere) {
  const auto pairs = match_places({"a.py:1 f", "a.py:2 f"}, {"a.py:2 f"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].name, "a.py:1 f");
  EXPECT_TRUE(pairs[0].now.empty());
  EXPECT_EQ(pairs[1].before, pairs[1].now);
}

TEST(PlaceMatching, WhereLinesMovedAndCameTheFunctionIsOnePlace) {
  const auto pairs = match_places({"a.py:1 f"}, {"a.py:2 f", "a.py:3 f"});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].name, "a.py f");
  EXPECT_EQ(pairs[0].now, (Names{"a.py:2 f", "a.py:3 f"}));
}

TEST(PlaceMatching, AFunctionOfOneSideOnlyIsNewOrGone) {
  const auto pairs = match_places({"a.py:1 f"}, {"a.py:1 g"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_TRUE(pairs[0].now.empty());
  EXPECT_TRUE(pairs[1].before.empty());
}

}  // namespace
}  // namespace memreplay

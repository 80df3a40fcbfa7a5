#include <gtest/gtest.h>

#include "analysis/recorded/places.hpp"

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

TEST(PlaceMatching, AFileOfFewerFoldersIsTheOneThatEndsSo) {
  const auto pairs = match_places({"model.py:10 f", "model.py:12 f"},
                                  {"enc/model.py:10 f", "enc/model.py:12 f", "dec/other.py:1 g"});
  ASSERT_EQ(pairs.size(), 3u);
  EXPECT_TRUE(pairs[0].before.empty());
  EXPECT_EQ(pairs[1].name, "enc/model.py:10 f");
  EXPECT_EQ(pairs[1].before, Names{"model.py:10 f"});
  EXPECT_EQ(pairs[2].before, Names{"model.py:12 f"});
}

TEST(PlaceMatching, WhereSeveralFilesEndSoTheirFunctionIsOnePlace) {
  const auto pairs = match_places({"model.py:10 f"}, {"enc/model.py:10 f", "dec/model.py:10 f"});
  ASSERT_EQ(pairs.size(), 1u);
  EXPECT_EQ(pairs[0].name, "model.py f");
  EXPECT_EQ(pairs[0].before, Names{"model.py:10 f"});
  EXPECT_EQ(pairs[0].now, (Names{"dec/model.py:10 f", "enc/model.py:10 f"}));
}

TEST(PlaceMatching, AFileThatIsOnBothSidesIsNoOther) {
  const auto pairs =
      match_places({"enc/model.py:1 f", "dec/model.py:1 f"}, {"enc/model.py:1 f", "model.py:1 f"});
  ASSERT_EQ(pairs.size(), 2u);
  EXPECT_EQ(pairs[0].name, "enc/model.py:1 f");
  EXPECT_EQ(pairs[0].before, Names{"enc/model.py:1 f"});
  EXPECT_EQ(pairs[1].before, Names{"dec/model.py:1 f"});
  EXPECT_EQ(pairs[1].now, Names{"model.py:1 f"});
}

}  // namespace
}  // namespace memreplay

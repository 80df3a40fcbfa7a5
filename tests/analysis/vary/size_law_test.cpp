#include "analysis/vary/size_law.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

using Points = std::vector<SizeAt>;

Bytes size_at(std::int64_t x, const Points& points, const LawFamily& family = {}) {
  return law_through(points, family).at(x);
}

SizeLaw::Kind kind_of(const Points& points, const LawFamily& family = {}) {
  return law_through(points, family).kind;
}

TEST(SizeLaw, WhatDoesNotChangeIsConstant) { EXPECT_EQ(size_at(64, {{2, 512}, {4, 512}}), 512U); }

TEST(SizeLaw, ProportionGoesBeforeALineWithAConstant) {
  EXPECT_EQ(size_at(7, {{2, 200}, {4, 400}}), 700U);
  EXPECT_EQ(size_at(7, {{2, 400}, {4, 1600}}), 4900U) << "of the square";
  EXPECT_EQ(size_at(4, {{1, 3}, {2, 48}}), 768U) << "of its square";
}

TEST(SizeLaw, ALineMayHaveAConstant) {
  EXPECT_EQ(size_at(512, {{128, 65 * 64}, {256, 129 * 64}}), 257U * 64);
}

TEST(SizeLaw, FractionsAreRoundedToTheNearest) {
  EXPECT_EQ(size_at(5, {{2, 3}, {4, 6}}), 8U);
  EXPECT_EQ(size_at(1, {{3, 100}, {6, 200}}), 33U);
}

TEST(SizeLaw, ARequestIsNeverOfNothing) { EXPECT_EQ(size_at(1, {{100, 4}, {200, 8}}), 1U); }

// Images of 16 x 16 patches, and one token more.
const std::vector<Points> kTokens = {{{96, 37 * 12288}, {160, 101 * 12288}},
                                     {{96, 37 * 24576}, {160, 101 * 24576}},
                                     {{96, 12 * 96 * 96}, {160, 12 * 160 * 160}}};

TEST(SizeLaw, SidesOfImagesCountSquared) {
  const LawFamily family = family_of(kTokens);
  EXPECT_EQ(family.degree, 2);
  EXPECT_EQ(size_at(224, kTokens[0], family), 197U * 12288);
}

TEST(SizeLaw, AttentionMatricesAreSquaresOfALength) {
  const LawFamily family = family_of(kTokens);
  const Points points = {{96, 48 * 37 * 37}, {160, 48 * 101 * 101}};
  EXPECT_EQ(kind_of(points, family), SizeLaw::Kind::product);
  EXPECT_EQ(size_at(224, points, family), 48U * 197 * 197);
}

TEST(SizeLaw, LengthsMayBePaddedToTiles) {
  const LawFamily family = family_of(kTokens);
  const Points points = {{96, 6144 * 2}, {160, 6144 * 4}};
  EXPECT_EQ(kind_of(points, family), SizeLaw::Kind::tiles);
  EXPECT_EQ(size_at(224, points, family), 6144U * 7);
}

TEST(SizeLaw, AThirdPointTellsWhichLawItIs) {
  EXPECT_EQ(size_at(8, {{1, 12}, {2, 32}, {4, 96}}), 320U) << "4 x² + 8 x";
  EXPECT_EQ(size_at(8, {{1, 104}, {2, 116}, {4, 164}}), 356U) << "100 + 4 x²";
}

TEST(SizeLaw, WhatFollowsNoLawIsGuessedFromTheNearestPoints) {
  const Points points = {{1, 100}, {2, 50}, {4, 70}};
  EXPECT_EQ(kind_of(points), SizeLaw::Kind::guess);
  EXPECT_EQ(size_at(3, points), 60U);
  EXPECT_EQ(size_at(8, points), 110U);
  EXPECT_EQ(size_at(2, points), 50U);
}

TEST(SizeLaw, OfOnePointSmallBlocksStayAndLargeOnesGrow) {
  EXPECT_EQ(size_at(8, {{4, 4096}}), 4096U);
  EXPECT_EQ(size_at(8, {{4, 5000}}), 10000U);
}

TEST(SizeLaw, HugeValuesGiveHugeSizesAndNothingElse) {
  const std::int64_t far = 1'000'000'000;
  EXPECT_GE(size_at(far, {{1, Bytes{1} << 40}, {2, Bytes{1} << 44}}), Bytes{1} << 60);
  EXPECT_GE(size_at(far, {{1, 12}, {2, 32}, {4, 96}}), Bytes{1} << 60);
}

}  // namespace
}  // namespace memreplay

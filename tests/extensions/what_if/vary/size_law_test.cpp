#include "extensions/what_if/vary/size_law.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace memreplay {
namespace {

using Points = std::vector<SizeAt>;
using Blocks = std::vector<Points>;

/// The laws of a block in a program that has the others too.
std::vector<SizeLaw> laws_of(const Points& points, Blocks others = {}) {
  others.push_back(points);
  return laws_through(points, family_of(others));
}

Bytes size_at(std::int64_t x, const Points& points, const Blocks& others = {}) {
  return laws_of(points, others).front().at(x);
}

bool may_be(Bytes size, std::int64_t x, const Points& points, const Blocks& others = {}) {
  return std::ranges::any_of(laws_of(points, others),
                             [&](const SizeLaw& law) { return law.at(x) == size; });
}

/// The sizes that a length comes to with a factor.
Points sized(const Length& length, Bytes factor, const std::vector<std::int64_t>& values) {
  Points points;
  for (const std::int64_t x : values) points.push_back({x, factor * length.at(x)});
  return points;
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

/// Blocks of a program over tokens.
const Blocks kText = {{{64, 64 * 1024}, {96, 96 * 1024}}, {{64, 64 * 2048}, {96, 96 * 2048}}};

// Labels that are shifted by one are no square, nor is what generates one more.
TEST(SizeLaw, OneMoreOrFewerIsALengthOfItsOwn) {
  for (const std::int64_t plus : {-1, 1, -2}) {
    const Length length{.plus = plus};
    const Points points = sized(length, 48000, {64, 96});
    EXPECT_EQ(size_at(1000, points, kText), 48000 * length.at(1000)) << plus;
  }
}

TEST(SizeLaw, TwoPointsCannotTellALineFromASquareWithAConstant) {
  const Points points = {{64, 100000 + 4 * 64 * 64}, {128, 100000 + 4 * 128 * 128}};
  EXPECT_EQ(size_at(256, points), 67232U + 768 * 256) << "it is a line as well";
  EXPECT_TRUE(may_be(100000 + 4 * 256 * 256, 256, points));
}

// Attention kernels pad their tables.
TEST(SizeLaw, PaddingIsNotSeenWhereAllValuesAreMultiples) {
  const Points points = {{64, 64 * 48}, {96, 96 * 48}};
  EXPECT_EQ(size_at(200, points), 200U * 48);
  EXPECT_TRUE(may_be(224 * 48, 200, points));
  EXPECT_FALSE(may_be(224 * 48, 200, {{64, 64 * 48}, {100, 100 * 48}}));
  const Points bias = {{64, 64 * 64 * 48}, {96, 96 * 96 * 48}};
  EXPECT_TRUE(may_be(200 * 208 * 48, 200, bias, kText));
}

// Images of 16 x 16 patches, and one token more.
const Blocks kTokens = {{{96, 37 * 12288}, {160, 101 * 12288}},
                        {{96, 37 * 24576}, {160, 101 * 24576}},
                        {{96, 12 * 96 * 96}, {160, 12 * 160 * 160}}};

TEST(SizeLaw, SidesOfImagesCountSquared) {
  EXPECT_EQ(family_of(kTokens).degree, 2);
  EXPECT_EQ(size_at(224, kTokens[0], kTokens), 197U * 12288);
  EXPECT_EQ(size_at(330, kTokens[0], kTokens), 401U * 12288) << "no multiple of the patches";
}

TEST(SizeLaw, AttentionMatricesAreSquaresOfALength) {
  const Points points = {{96, 48 * 37 * 37}, {160, 48 * 101 * 101}};
  EXPECT_EQ(size_at(224, points, kTokens), 48U * 197 * 197);
}

TEST(SizeLaw, LengthsMayBePaddedToTiles) {
  const Points points = {{96, 6144 * 2}, {160, 6144 * 4}};
  EXPECT_EQ(size_at(224, points, kTokens), 6144U * 7);
}

TEST(SizeLaw, LayersRoundWhatTheyDivide) {
  const std::vector<std::int64_t> sides = {64, 100};
  const Blocks others = {sized({.power = 2}, 12, sides),
                         sized({.plus = 7, .by = 8, .power = 2}, 1536, sides)};
  for (const std::int64_t by : {8, 16, 32}) {
    const Length up{.plus = by - 1, .by = by, .power = 2};
    EXPECT_EQ(size_at(330, sized(up, 3072, sides), others), 3072 * up.at(330)) << by;
  }
}

TEST(SizeLaw, RoundingIsNotSeenWhereAllSidesAreMultiples) {
  const Blocks others = {sized({.power = 2}, 1024, {64, 128})};
  const Points points = sized({.by = 4, .power = 2}, 1024, {64, 128});
  EXPECT_EQ(size_at(192, points, others), Bytes{1024} * 48 * 48);
  EXPECT_TRUE(may_be(Bytes{1024} * 25 * 25, 99, points, others));
  EXPECT_TRUE(may_be(Bytes{1024} * 24 * 24, 99, points, others));
}

TEST(SizeLaw, LayersWithoutPaddingLoseEdges) {
  const std::vector<std::int64_t> sides = {160, 224, 330};
  const Blocks others = {sized({.plus = -2, .power = 2}, 384, sides),
                         sized({.plus = -4, .power = 2}, 384, sides)};
  const Length halved{.plus = -4, .by = 2, .power = 2};
  EXPECT_EQ(size_at(100, sized(halved, 768, sides), others), 768 * halved.at(100));
}

TEST(SizeLaw, AThirdPointTellsWhichLawItIs) {
  EXPECT_EQ(size_at(8, {{1, 12}, {2, 32}, {4, 96}}), 320U) << "4 x² + 8 x";
  EXPECT_EQ(size_at(8, {{1, 104}, {2, 116}, {4, 164}}), 356U) << "100 + 4 x²";
}

TEST(SizeLaw, WhatFollowsNoLawIsGuessedFromTheNearestPoints) {
  const Points points = {{1, 100}, {2, 50}, {4, 70}};
  EXPECT_EQ(laws_of(points).front().kind, SizeLaw::Kind::guess);
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

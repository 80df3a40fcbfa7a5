#include "report/parts/sizes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace memreplay {
namespace {

using testing::ElementsAre;

TEST(SizesBeside, StayInMebibytesWhileAllAreSmall) {
  EXPECT_THAT(sizes_beside({5226 * kMiB, 4419 * kMiB, 0}),
              ElementsAre("5226 MiB", "4419 MiB", "0 B"));
}

TEST(SizesBeside, ShareAUnit) {
  EXPECT_THAT(sizes_beside({12 * kGiB + 300 * kMiB, 8192 * kMiB}),
              ElementsAre("12.29 GiB", "8.00 GiB"));
  EXPECT_THAT(sizes_beside({40 * kGiB, 1206 * kMiB}), ElementsAre("40.0 GiB", "1206 MiB"));
}

TEST(SizesBeside, WhatLooksTheSameInMebibytesNeedsNoDecimals) {
  EXPECT_THAT(sizes_beside({40 * kGiB, 1205 * kMiB + 1, 1205 * kMiB - 1}),
              ElementsAre("40.0 GiB", "1205 MiB", "1205 MiB"));
}

TEST(SizesBeside, WhatDiffersLooksDifferent) {
  EXPECT_THAT(sizes_beside({10202 * kMiB, 10190 * kMiB}), ElementsAre("9.96 GiB", "9.95 GiB"));
  EXPECT_THAT(sizes_beside({13000 * kMiB, 13002 * kMiB}), ElementsAre("12.695 GiB", "12.697 GiB"));
  EXPECT_THAT(sizes_beside({13000 * kMiB, 13000 * kMiB}), ElementsAre("12.7 GiB", "12.7 GiB"));
}

}  // namespace
}  // namespace memreplay

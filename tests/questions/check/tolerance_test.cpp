#include "questions/check/tolerance.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

std::uint64_t limit(std::uint64_t baseline, const char* tolerance) {
  return limit_of(baseline, parse_tolerance(tolerance).value());
}

TEST(Tolerance, IsAShareASizeOrANumber) {
  EXPECT_EQ(limit(1000, "2%"), 1020u);
  EXPECT_EQ(limit(1000, "0.5%"), 1005u);
  EXPECT_EQ(limit(1000, "1KiB"), 2024u);
  EXPECT_EQ(limit(1000, "7"), 1007u);
  EXPECT_EQ(limit(1000, "0"), 1000u);
  EXPECT_EQ(limit(0, "50%"), 0u);
}

TEST(Tolerance, TheLimitIsRoundedDownToAWholeNumber) {
  EXPECT_EQ(limit(99, "1%"), 99u);
  EXPECT_EQ(limit(199, "1%"), 200u);
}

TEST(Tolerance, NothingIsLostWhereADoubleWouldLoseIt) {
  EXPECT_EQ(limit((std::uint64_t{1} << 60) + 1, "100%"), (std::uint64_t{1} << 61) + 2);
}

TEST(Tolerance, TheLimitNeverWrapsAround) {
  EXPECT_EQ(limit(UINT64_MAX - 1, "2%"), UINT64_MAX);
  EXPECT_EQ(limit(UINT64_MAX - 1, "5"), UINT64_MAX);
}

TEST(Tolerance, OnlyAUnitMakesItASize) {
  EXPECT_TRUE(parse_tolerance("64MiB")->sized);
  EXPECT_FALSE(parse_tolerance("64")->sized);
  EXPECT_FALSE(parse_tolerance("2%")->sized);
}

TEST(Tolerance, WhatIsNoneIsRefused) {
  for (const char* text : {"", "%", "-1", "-1%", "2 %", "2%%", ".5%", "1.%", "1.2.3%", "2 MiB",
                           "1e3", "12345678901%", "lots", "0x10"}) {
    EXPECT_FALSE(parse_tolerance(text)) << text;
  }
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include "core/torch_sizes.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay::torch {
namespace {

RoundupTable all(std::uint32_t divisions) {
  RoundupTable table;
  table.fill(divisions);
  return table;
}

RoundupTable table_of(const char* value, const char* version) {
  std::vector<SettingIssue> issues;
  const Settings settings =
      read_settings({{"roundup_power2_divisions", value}}, parse_release(version), issues);
  EXPECT_TRUE(issues.empty());
  return settings.roundup_power2_divisions;
}

TEST(RoundSize, RoundsUpTo512WithoutDivisions) {
  EXPECT_EQ(round_size(1, all(0)), 512u);
  EXPECT_EQ(round_size(511, all(0)), 512u);
  EXPECT_EQ(round_size(513, all(0)), 1024u);
  EXPECT_EQ(round_size(1048577, all(0)), 1049088u);
  EXPECT_EQ(round_size(34603009, all(0)), 34603520u);
  EXPECT_EQ(round_size(5000, all(1)), 5120u);
}

TEST(RoundSize, StepsBetweenPowersOfTwo) {
  const std::pair<Bytes, Bytes> cases[] = {
      {1200, 1536},       {2048, 2048},        {2049, 2560},       {2561, 3072},
      {5000, 5120},       {1048577, 1310720},  {3145729, 3670016}, {5242885, 6291456},
      {7340033, 8388608}, {34603009, 41943040}};
  for (const auto& [size, rounded] : cases) EXPECT_EQ(round_size(size, all(4)), rounded) << size;
}

TEST(RoundSize, Release20UsesTheRequestAsItIsWhereTheTableSaysOne) {
  EXPECT_EQ(round_size(5000, all(1), true), 5000u);
}

TEST(RoundupTable, TheTailOfAListBeginsBehindTheLastNamedSizeSince210) {
  const char* list = "[256:1,512:2,1024:4,>:8]";
  EXPECT_EQ(table_of(list, "2.6.0"),
            (RoundupTable{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 8, 8, 8, 8, 8, 8}));
  EXPECT_EQ(table_of(list, "2.15.0"),
            (RoundupTable{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8}));
  EXPECT_EQ(round_size(1363148801, table_of(list, "2.6.0")), 1476395008u);
  EXPECT_EQ(round_size(1363148801, table_of(list, "2.15.0")), 1610612736u);
  EXPECT_EQ(round_size(629145601, table_of(list, "2.15.0")), 805306368u);
}

TEST(RoundupTable, KeysMayComeInAnyOrderAndAboveTheLastEntry) {
  EXPECT_EQ(table_of("[64:8,128:2,256:4,512:2,1024:4,>:1]", "2.15"),
            (RoundupTable{8, 8, 8, 8, 8, 8, 8, 2, 4, 2, 4, 1, 1, 1, 1, 1}));
  EXPECT_EQ(table_of("[>:4,256:2]", "2.15"),
            (RoundupTable{2, 2, 2, 2, 2, 2, 2, 2, 2, 4, 4, 4, 4, 4, 4, 4}));
  EXPECT_EQ(table_of("[1:2,65536:8]", "2.15"),
            (RoundupTable{2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8}));
}

TEST(GetAllocationSize, HasThreeRanges) {
  EXPECT_EQ(get_allocation_size(kMiB, kLargeBuffer), 2 * kMiB);
  EXPECT_EQ(get_allocation_size(kMiB + 512, kLargeBuffer), 20 * kMiB);
  EXPECT_EQ(get_allocation_size(kMiB + 512, 64 * kMiB), 64 * kMiB);
  EXPECT_EQ(get_allocation_size(10 * kMiB, 64 * kMiB), 10 * kMiB);
  EXPECT_EQ(get_allocation_size(11 * kMiB, kLargeBuffer), 12 * kMiB);
}

}  // namespace
}  // namespace memreplay::torch

#include "strategy/torch/settings.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace memreplay::torch {
namespace {

Settings read(const char* conf, const char* version = "") {
  SettingIssues issues;
  const Settings settings = read_conf(conf, parse_release(version), issues);
  for (const SettingIssue& issue : issues) {
    EXPECT_EQ(issue.severity, SettingIssue::Severity::warning) << issue.text;
  }
  return settings;
}

TEST(TorchSettings, TheSegmentSizeBoundsTheSplitLimitWhateverItsPosition) {
  EXPECT_EQ(read("max_split_size_mb:64,large_segment_size_mb:64").max_split_size, 64 * kMiB);
  EXPECT_EQ(read("large_segment_size_mb:64").max_non_split_rounding_size, 64 * kMiB);
}

TEST(TorchSettings, ASegmentSizeThatWrapsRoundIsCut) {
  EXPECT_EQ(read("large_segment_size_mb:-1").large_segment_size, Bytes{1} << 60);
}

TEST(TorchSettings, MoreDivisionsThanFitAreTheMostThatMatter) {
  EXPECT_EQ(read("roundup_power2_divisions:4294967296").roundup_power2_divisions[0], 1u << 31);
}

TEST(TorchSettings, TheReserveIsKeptAsOneSpelling) {
  EXPECT_EQ(read("expandable_segments_reserve:8g").expandable_segments_reserve, "8G");
  EXPECT_EQ(read("expandable_segments_reserve:+.5").expandable_segments_reserve, ".5");
  EXPECT_EQ(read("expandable_segments_reserve:0.5").expandable_segments_reserve, "0.5");
}

TEST(TorchSettings, AReserveThatCannotBeReadLeavesTheOneBefore) {
  EXPECT_EQ(read("expandable_segments_reserve:0.25,expandable_segments_reserve:8GB")
                .expandable_segments_reserve,
            "0.25");
}

TEST(TorchSettings, BeforeTheOptionExistedTheFractionStandsForTheCall) {
  EXPECT_EQ(read("per_process_memory_fraction:0.5", "2.6").per_process_memory_fraction, 0.5);
  EXPECT_TRUE(read("per_process_memory_fraction:1", "2.9").fraction_set_by_call);
  EXPECT_FALSE(read("per_process_memory_fraction:1", "2.10").fraction_set_by_call);
  EXPECT_FALSE(read("", "2.9").fraction_set_by_call);
}

TEST(TorchRelease, ReadsReleasesWithAndWithoutPatchAndBuild) {
  EXPECT_EQ(parse_release("2.6"), (Release{2, 6, 0}));
  EXPECT_EQ(parse_release("2.12.1+cu130"), (Release{2, 12, 1}));
  EXPECT_EQ(parse_release(""), kNewestRelease);
  for (const char* bad : {"1.13", "two", "2.6.0.1.2", "2..1", "2.16", "3.0"}) {
    EXPECT_THROW(parse_release(bad), UsageError) << bad;
  }
}

}  // namespace
}  // namespace memreplay::torch

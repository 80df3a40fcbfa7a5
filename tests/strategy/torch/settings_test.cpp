#include "strategy/torch/settings.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace memreplay::torch {
namespace {

Settings read(const char* conf, const char* version = "") {
  std::vector<SettingIssue> issues;
  const Settings settings = read_settings(split_conf(conf), parse_release(version), issues);
  for (const SettingIssue& issue : issues) {
    EXPECT_EQ(issue.severity, SettingIssue::Severity::warning) << issue.text;
  }
  return settings;
}

std::string first_error(const char* conf, const char* version = "") {
  for (const SettingIssue& issue : lint_settings(conf, version)) {
    if (issue.severity == SettingIssue::Severity::error) return issue.text;
  }
  return {};
}

TEST(TorchSettings, BlanksAndATrailingCommaDoNotMatter) {
  const Settings settings = read(" max_split_size_mb : 128 , expandable_segments:True,");
  EXPECT_EQ(settings.max_split_size, 128 * kMiB);
  EXPECT_TRUE(settings.expandable_segments);
}

TEST(TorchSettings, TheLastOfARepeatedKeyWins) {
  EXPECT_EQ(read("max_split_size_mb:128,max_split_size_mb:64").max_split_size, 64 * kMiB);
}

TEST(TorchSettings, NumbersAreReadAsFarAsTheyGo) {
  EXPECT_EQ(read("max_split_size_mb:128MB").max_split_size, 128 * kMiB);
  EXPECT_EQ(static_cast<std::int64_t>(read("max_split_size_mb:-1").max_split_size), -1048576);
}

TEST(TorchSettings, TheSegmentSizeBoundsTheSplitLimitWhateverItsPosition) {
  EXPECT_EQ(read("max_split_size_mb:64,large_segment_size_mb:64").max_split_size, 64 * kMiB);
  EXPECT_EQ(first_error("max_split_size_mb:32,large_segment_size_mb:64"),
            "max_split_size_mb is '32'; expected 64 (large_segment_size_mb) or more");
  EXPECT_EQ(read("large_segment_size_mb:64").max_non_split_rounding_size, 64 * kMiB);
}

TEST(TorchSettings, TwentyIsRefusedUpTo28AndAcceptedLater) {
  EXPECT_EQ(first_error("max_split_size_mb:20", "2.6.0"),
            "max_split_size_mb is '20'; expected more than 20");
  EXPECT_EQ(first_error("max_split_size_mb:20", "2.10.0"), "");
}

TEST(TorchSettings, OptionsAreKnownFromARelease) {
  EXPECT_EQ(first_error("large_segment_size_mb:32", "2.10"),
            "'large_segment_size_mb' is known from PyTorch 2.11 on, not to 2.10.0");
  EXPECT_EQ(first_error("max_split_size:3"),
            "PyTorch has no allocator option 'max_split_size'; did you mean 'max_split_size_mb'?");
}

TEST(TorchSettings, BooleansAreExact) {
  EXPECT_EQ(first_error("expandable_segments:true"),
            "expandable_segments is 'true'; expected True or False");
}

TEST(TorchSettings, SettingsThatFightEachOtherAreWarnedOf) {
  const auto issues = lint_settings("expandable_segments:True,max_split_size_mb:128", "");
  ASSERT_EQ(issues.size(), 1u);
  EXPECT_EQ(issues[0].severity, SettingIssue::Severity::warning);
}

TEST(TorchSettings, AStringWithoutKeysIsRefused) {
  EXPECT_THROW(split_conf("max_split_size_mb"), UsageError);
  EXPECT_THROW(split_conf("roundup_power2_divisions:[256:1"), UsageError);
}

TEST(TorchRelease, ReadsReleasesWithAndWithoutPatchAndBuild) {
  EXPECT_EQ(parse_release("2.6"), (Release{2, 6, 0}));
  EXPECT_EQ(parse_release("2.12.1+cu130"), (Release{2, 12, 1}));
  EXPECT_EQ(parse_release(""), kNewestRelease);
  for (const char* bad : {"1.13", "two", "2.6.0.1.2", "2..1"}) {
    EXPECT_THROW(parse_release(bad), UsageError) << bad;
  }
}

}  // namespace
}  // namespace memreplay::torch

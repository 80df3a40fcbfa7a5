#include "questions/settings/setting.hpp"

#include <gtest/gtest.h>

namespace memreplay {
namespace {

Setting read_back(const std::string& conf, const std::string& version) {
  torch::SettingIssues issues;
  const Setting setting = setting_of(torch::read_conf(conf, torch::parse_release(version), issues));
  EXPECT_TRUE(issues.empty()) << conf << ": " << issues.front().text;
  return setting;
}

TEST(Setting, IsReadBackAsItWasWrittenByOldAndNewParsers) {
  Setting setting{
      .max_split_size_mb = 128, .max_non_split_rounding_mb = 64, .garbage_collection_percent = 80};
  setting.roundup_power2_divisions = {0, 2, 0, 4, 0, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 64};
  const std::string conf = conf_of(setting, {});
  EXPECT_EQ(conf,
            "max_split_size_mb:128,max_non_split_rounding_mb:64,garbage_collection_threshold:0.8,"
            "roundup_power2_divisions:[1:0,2:2,8:4,256:8,32768:64]");
  EXPECT_EQ(read_back(conf, "2.6"), setting);
  EXPECT_EQ(read_back(conf, "2.15"), setting);
}

TEST(Setting, OneNumberForAllSizesIsWrittenAsOne) {
  Setting setting{.expandable_segments = true, .large_segment_size_mb = 64};
  setting.roundup_power2_divisions.fill(4);
  const std::string conf = conf_of(setting, {});
  EXPECT_EQ(conf, "expandable_segments:True,large_segment_size_mb:64,roundup_power2_divisions:4");
  EXPECT_EQ(read_back(conf, "2.15"), setting);
  EXPECT_EQ(option_count(setting), 3);
  EXPECT_EQ(complexity(setting), 3);
}

TEST(Setting, AListIsAsComplexAsItsPairs) {
  Setting setting;
  setting.roundup_power2_divisions[3] = 8;
  EXPECT_EQ(option_count(setting), 1);
  EXPECT_EQ(complexity(setting), 3);  // [1:0,8:8]
}

TEST(Setting, WhatASearchDoesNotVaryIsKept) {
  const auto kept = kept_options(
      "max_split_size_mb:128,per_process_memory_fraction:0.9,expandable_segments:True", {});
  EXPECT_EQ(conf_of({.expandable_segments = true}, conf_of(kept)),
            "per_process_memory_fraction:0.9,expandable_segments:True");
  EXPECT_EQ(conf_of({}, {}), "");
}

TEST(Setting, WhatNoReleaseReadsIsNotKept) {
  const auto kept = kept_options("of_2_99:True,per_process_memory_fraction:0.9", {});
  EXPECT_EQ(conf_of(kept), "per_process_memory_fraction:0.9");
}

}  // namespace
}  // namespace memreplay

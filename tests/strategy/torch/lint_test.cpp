#include "strategy/torch/lint.hpp"

#include <gtest/gtest.h>

namespace memreplay::torch {
namespace {

using Severity = SettingIssue::Severity;

std::string first_error(const char* conf, const char* version = "") {
  for (const SettingIssue& issue : lint_settings(conf, version)) {
    if (issue.severity == Severity::error) return issue.text;
  }
  return {};
}

// The whole text of the only warning; "…" where there are more.
std::string warning(const char* conf, const char* version = "") {
  const SettingIssues issues = lint_settings(conf, version);
  if (issues.empty()) return {};
  EXPECT_EQ(issues.front().severity, Severity::warning) << issues.front().text;
  return issues.size() == 1 ? issues.front().text : issues.front().text + "…";
}

TEST(TorchLint, AnErrorSaysWhatWasExpected) {
  EXPECT_EQ(first_error("max_split_size_mb:32,large_segment_size_mb:64"),
            "max_split_size_mb is '32'; expected 64 (large_segment_size_mb) or more");
  EXPECT_EQ(first_error("max_split_size_mb:20", "2.9.1"),
            "max_split_size_mb is '20'; expected more than 20");
  EXPECT_EQ(first_error("expandable_segments:true"),
            "expandable_segments is 'true'; expected True or False");
  EXPECT_EQ(first_error("max_split_size_mb"), "max_split_size_mb is ''; expected a whole number");
  EXPECT_EQ(first_error("backend:hipMallocAsync"),
            "backend is 'hipMallocAsync'; expected native or cudaMallocAsync (this name is for "
            "ROCm)");
  EXPECT_EQ(first_error("roundup_power2_divisions:[256:1"),
            "roundup_power2_divisions is '[256:1'; its bracket is not closed");
  EXPECT_EQ(first_error("roundup_power2_divisions:[256:1,512]"),
            "roundup_power2_divisions is '[256:1,512]'; '512' in it has no value");
  EXPECT_EQ(first_error(",max_split_size_mb:64"),
            "',' where an option should begin; expected key:value");
}

TEST(TorchLint, AnUnknownOptionIsGuessedAt) {
  const std::string guess = "; did you mean 'max_split_size_mb'?";
  for (const std::string wrong : {"max_split_size", "MAX_SPLIT_SIZE_MB", "max_split_size_mb=64"}) {
    EXPECT_EQ(first_error(wrong.c_str()),
              "PyTorch has no allocator option '" + wrong + "'" + guess);
  }
}

TEST(TorchLint, AnOptionIsKnownFromARelease) {
  EXPECT_EQ(first_error("large_segment_size_mb:32", "2.10"),
            "'large_segment_size_mb' is known from PyTorch 2.11 on, not to 2.10.0");
  EXPECT_EQ(first_error("per_process_memory_fraction:0.5", "2.6"),
            "'per_process_memory_fraction' is known from PyTorch 2.10 on, not to 2.6.0; call "
            "torch.cuda.set_per_process_memory_fraction instead");
}

TEST(TorchLint, AnotherSeparatorIsRefusedUpTo29) {
  EXPECT_EQ(first_error("max_split_size_mb,64", "2.9"),
            "',' after 'max_split_size_mb'; expected ':'");
  EXPECT_EQ(warning("max_split_size_mb,64"),
            "',' after 'max_split_size_mb' instead of ':': PyTorch accepts it since 2.10 and "
            "refuses it before");
}

TEST(TorchLint, WhatIsReadOtherwiseThanItLooksIsSaid) {
  EXPECT_EQ(warning("max_split_size_mb:64GB"),
            "max_split_size_mb is '64GB': PyTorch reads only the leading number, 64");
  EXPECT_EQ(warning("max_split_size_mb:-1"),
            "max_split_size_mb is '-1': PyTorch reads a negative number as a huge one");
  EXPECT_EQ(warning("max_split_size_mb:64,max_split_size_mb:32"),
            "max_split_size_mb is given more than once; the last one is used");
  EXPECT_EQ(warning("expandable_segments:True,expandable_segments_reserve:8GB"),
            "expandable_segments_reserve: PyTorch ignores '8GB'; it reads a share of the device "
            "(0.5) or gibibytes (8G)");
}

TEST(TorchLint, WhatHasNoEffectIsSaid) {
  const std::pair<const char*, const char*> idle[] = {
      {"max_non_split_rounding_mb:64", "max_non_split_rounding_mb has no effect without"},
      {"expandable_segments_reserve:0.5", "expandable_segments_reserve has no effect without"},
      {"roundup_power2_divisions:1", "roundup_power2_divisions:1 has no effect"},
      {"roundup_power2_divisions:[256:1,>:0]",
       "roundup_power2_divisions:[256:1,>:0] has no effect"},
      {"garbage_collection_threshold:0.8", "garbage_collection_threshold acts only under"},
      {"garbage_collection_threshold:0.8,per_process_memory_fraction:0.5,expandable_segments:True",
       "garbage_collection_threshold frees whole segments only"},
      {"throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5",
       "throw_on_cudamalloc_oom changes nothing"},
      {"pinned_num_register_threads:8", "pinned_num_register_threads has no effect without"},
      {"pinned_max_cached_size_mb:64,pinned_max_round_threshold_mb:256",
       "pinned_max_round_threshold_mb:256 has no effect beside pinned_max_cached_size_mb:64"},
      {"graph_capture_record_stream_reuse:True", "graph_capture_record_stream_reuse decides"},
      {"backend:cudaMallocAsync,max_split_size_mb:64",
       "backend:cudaMallocAsync leaves memory to the driver; no effect: max_split_size_mb"},
  };
  for (const auto& [conf, beginning] : idle) {
    EXPECT_EQ(warning(conf).substr(0, std::string_view(beginning).size()), beginning) << conf;
  }
}

TEST(TorchLint, WhatWorksIsNotWarnedOf) {
  for (const char* conf :
       {"", "max_split_size_mb:64,max_non_split_rounding_mb:32", "expandable_segments:True",
        "garbage_collection_threshold:0.8,per_process_memory_fraction:0.9",
        "expandable_segments:True,expandable_segments_reserve:8G", "throw_on_cudamalloc_oom:True",
        "pinned_num_register_threads:8,pinned_use_cuda_host_register:True",
        "pinned_max_cached_size_mb:64", "pinned_max_cached_size_mb:0",
        "pinned_max_cached_size_mb:100,pinned_max_round_threshold_mb:64",
        "pinned_max_round_threshold_mb:100", "roundup_power2_divisions:4",
        "roundup_power2_divisions:[>:4,1:4]", "graph_capture_record_stream_reuse:False"}) {
    EXPECT_EQ(warning(conf), "") << conf;
  }
}

TEST(TorchLint, PinnedMemoryThatIsRoundedUpToMoreThanIsKeptIsSaid) {
  EXPECT_EQ(warning("pinned_max_cached_size_mb:100"),
            "pinned_max_cached_size_mb:100: a request above 64 MiB and up to 100 MiB is rounded up "
            "to 128 MiB, and so not kept when it is freed; with pinned_max_round_threshold_mb:64 "
            "it is");
  EXPECT_NE(warning("pinned_max_cached_size_mb:100,pinned_max_round_threshold_mb:80")
                .find("above 64 MiB and up to 80 MiB"),
            std::string::npos);
}

TEST(TorchLint, WhatRefusesEverythingIsSaid) {
  EXPECT_EQ(warning("per_process_memory_fraction:0"),
            "per_process_memory_fraction:0 is legal and refuses every allocation");
}

TEST(TorchLint, SettingsThatFightEachOtherAreWarnedOf) {
  EXPECT_NE(warning("expandable_segments:True,max_split_size_mb:128"), "");
}

TEST(TorchLint, ARoundingListIsShownAsItIsRead) {
  EXPECT_EQ(warning("roundup_power2_divisions:[256:1,512:2]"),
            "roundup_power2_divisions: a size in the list is where its divisions begin, contrary "
            "to the documentation: 1 below 512 MiB, 2 from 512 MiB, 0 from 1024 MiB");
}

TEST(TorchLint, AListWhoseMeaningChangedIsShownBothWays) {
  const auto new_reading = lint_settings("roundup_power2_divisions:[256:1,512:2,>:8]", "");
  ASSERT_EQ(new_reading.size(), 2u);
  EXPECT_EQ(new_reading[1].text,
            "roundup_power2_divisions: PyTorch up to 2.9 reads '>' differently: 1 below 512 MiB, 8 "
            "from 512 MiB");
  const auto old_reading = lint_settings("roundup_power2_divisions:[256:1,512:2,>:8]", "2.9");
  ASSERT_EQ(old_reading.size(), 2u);
  EXPECT_EQ(old_reading[1].text,
            "roundup_power2_divisions: PyTorch from 2.10 on reads '>' differently: 1 below 512 "
            "MiB, 2 from 512 MiB, 8 from 1024 MiB");
}

TEST(TorchLint, OneDivisionMeantNoRoundingInRelease20) {
  EXPECT_EQ(warning("roundup_power2_divisions:1", "2.0"),
            "roundup_power2_divisions: with one division PyTorch 2.0 does not round at all");
}

}  // namespace
}  // namespace memreplay::torch

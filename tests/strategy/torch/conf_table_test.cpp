#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "strategy/torch/settings.hpp"

namespace memreplay::torch {
namespace {

constexpr int kNever = 99;

// What PyTorch 2.8.0, 2.9.0, 2.10.0 and 2.15.0 said when they were asked.
struct Answer {
  const char* conf;
  int since;           ///< the first of them that accepts the string: 2.SINCE
  const char* effect;  ///< what it does on 2.15.0, see `effect_of`
};

constexpr Answer kAnswers[] = {
    {"", 8, ""},
    {",", kNever, ""},
    {":", kNever, ""},
    {"max_split_size_mb", kNever, ""},
    {"max_split_size_mb:", kNever, ""},
    {"max_split_size_mb:,", kNever, ""},
    {"max_split_size_mb:128", 8, "split 134217728"},
    {"max_split_size_mb:128,", 8, "split 134217728"},
    {"max_split_size_mb:128,,", kNever, ""},
    {",max_split_size_mb:128", kNever, ""},
    {" max_split_size_mb : 128 ", 8, "split 134217728"},
    {"max_split_size_mb\t:\n128", 10, "split 134217728"},
    {"max_split_ size_mb:1 28", 8, "split 134217728"},
    {"max_split_size_mb:19", kNever, ""},
    {"max_split_size_mb:20", 10, "split 20971520"},
    {"max_split_size_mb:-1", 8, "split -1048576"},
    {"max_split_size_mb:-2", 8, "split -1048576"},
    {"max_split_size_mb:+64", 8, "split 67108864"},
    {"max_split_size_mb:64MB", 8, "split 67108864"},
    {"max_split_size_mb:64.9", 8, "split 67108864"},
    {"max_split_size_mb:1e3", kNever, ""},
    {"max_split_size_mb:0x40", kNever, ""},
    {"max_split_size_mb:abc", kNever, ""},
    {"max_split_size_mb:99999999999999999999", kNever, ""},
    {"max_split_size_mb:18446744073709551615", 10, "split -1048576"},
    {"max_split_size_mb:64,max_split_size_mb:128", 8, "split 134217728"},
    {"max_split_size_mb:64,max_split_size_mb:5", kNever, ""},
    {"max_split_size_mb:5,max_split_size_mb:64", kNever, ""},
    {"max_split_size_mb=128", kNever, ""},
    {"max_split_size_mb:128;expandable_segments:True", kNever, ""},
    {"max_split_size_mb:128:expandable_segments:True", 10, "split 134217728, expandable"},
    {"max_split_size_mb,128", 10, "split 134217728"},
    {"max_split_size_mb]128", 10, "split 134217728"},
    {"max_split_size_mb:128]expandable_segments:True", 10, "split 134217728, expandable"},
    {"max_split_size_mb::128", kNever, ""},
    {"max_split_size_mb:[128]", kNever, ""},
    {"MAX_SPLIT_SIZE_MB:128", kNever, ""},
    {"foo:1", kNever, ""},
    {"foo", kNever, ""},
    {"'max_split_size_mb:128'", kNever, ""},
    {"expandable_segments:True", 8, "expandable"},
    {"expandable_segments:true", kNever, ""},
    {"expandable_segments:1", kNever, ""},
    {"expandable_segments:False", 8, ""},
    {"expandable_segments:Tr ue", 8, "expandable"},
    {"expandable_segments:", kNever, ""},
    {"expandable_segments", kNever, ""},
    {"expandable_segments:True,expandable_segments:False", 8, ""},
    {"expandable_segments:[True]", kNever, ""},
    {"garbage_collection_threshold:0.8", 8, "gc 0.8"},
    {"garbage_collection_threshold:0", kNever, ""},
    {"garbage_collection_threshold:1", kNever, ""},
    {"garbage_collection_threshold:0.999999", 8, "gc 0.999999"},
    {"garbage_collection_threshold:-0.1", kNever, ""},
    {"garbage_collection_threshold:80%", kNever, ""},
    {"garbage_collection_threshold:0.8x", 8, "gc 0.8"},
    {"garbage_collection_threshold:.5", 8, "gc 0.5"},
    {"garbage_collection_threshold:5e-1", 8, "gc 0.5"},
    {"garbage_collection_threshold:nan", kNever, ""},
    {"garbage_collection_threshold:inf", kNever, ""},
    {"garbage_collection_threshold:0x0.8p0", 8, "gc 0.5"},
    {"garbage_collection_threshold:abc", kNever, ""},
    {"garbage_collection_threshold:+0.5", 8, "gc 0.5"},
    {"garbage_collection_threshold:1e-400", kNever, ""},
    {"garbage_collection_threshold:0,8", kNever, ""},
    {"per_process_memory_fraction:0", 10, ""},
    {"per_process_memory_fraction:0.5", 10, ""},
    {"per_process_memory_fraction:1", 10, ""},
    {"per_process_memory_fraction:1.01", kNever, ""},
    {"per_process_memory_fraction:-0", 10, ""},
    {"per_process_memory_fraction:nan", kNever, ""},
    {"per_process_memory_fraction:abc", kNever, ""},
    {"large_segment_size_mb:10", kNever, ""},
    {"large_segment_size_mb:11", 15, "segment 11"},
    {"large_segment_size_mb:32", 15, "segment 32"},
    {"large_segment_size_mb:0", kNever, ""},
    {"large_segment_size_mb:abc", kNever, ""},
    {"large_segment_size_mb:64,max_split_size_mb:32", kNever, ""},
    {"max_split_size_mb:32,large_segment_size_mb:64", kNever, ""},
    {"max_split_size_mb:12,large_segment_size_mb:12", 15, "split 12582912, segment 12"},
    {"large_segment_size_mb:64,large_segment_size_mb:32,max_split_size_mb:32", 15,
     "split 33554432, segment 32"},
    {"large_segment_size_mb:5,large_segment_size_mb:32", kNever, ""},
    {"large_segment_size_mb:32,large_segment_size_mb:5", kNever, ""},
    {"large_segment_size_mb:64,max_non_split_rounding_mb:32", kNever, ""},
    {"max_non_split_rounding_mb:19", kNever, ""},
    {"max_non_split_rounding_mb:20", 10, ""},
    {"max_non_split_rounding_mb:200", 8, ""},
    {"max_non_split_rounding_mb:-1", 8, ""},
    {"roundup_power2_divisions:4", 8, "table 4*16"},
    {"roundup_power2_divisions:0", kNever, ""},
    {"roundup_power2_divisions:1", 8, "table 1*16"},
    {"roundup_power2_divisions:3", kNever, ""},
    {"roundup_power2_divisions:-4", kNever, ""},
    {"roundup_power2_divisions:4x", 8, "table 4*16"},
    {"roundup_power2_divisions:abc", kNever, ""},
    {"roundup_power2_divisions:", kNever, ""},
    {"roundup_power2_divisions:[256:1,512:2,1024:4,>:8]", 8, "table 1*9 2 4 8*5"},
    {"roundup_power2_divisions:[256:1,512:2,1024:4,>:8],", 8, "table 1*9 2 4 8*5"},
    {"roundup_power2_divisions:[256:1,512:2,1024:4,>:8,]", 8, "table 1*9 2 4 8*5"},
    {"roundup_power2_divisions:[256:1,512:2,1024:4,>:8", kNever, ""},
    {"roundup_power2_divisions:[]", 8, ""},
    {"roundup_power2_divisions:[>:4]", 8, "table 0 4*15"},
    {"roundup_power2_divisions:[>:4,256:2]", 8, "table 2*9 4*7"},
    {"roundup_power2_divisions:[256:0]", 8, ""},
    {"roundup_power2_divisions:[256:3]", kNever, ""},
    {"roundup_power2_divisions:[255:2]", kNever, ""},
    {"roundup_power2_divisions:[0:2]", kNever, ""},
    {"roundup_power2_divisions:[0.5:2]", kNever, ""},
    {"roundup_power2_divisions:[256MB:2]", 8, "table 2*9 0*7"},
    {"roundup_power2_divisions:[65536:8]", 8, "table 8*16"},
    {"roundup_power2_divisions:[1:2,65536:8]", 8, "table 2 0*14 8"},
    {"roundup_power2_divisions:[256]", kNever, ""},
    {"roundup_power2_divisions:[256:]", kNever, ""},
    {"roundup_power2_divisions:[:4]", kNever, ""},
    {"roundup_power2_divisions:[256,4]", 10, "table 4*9 0*7"},
    {"roundup_power2_divisions:[256:4;512:2]", kNever, ""},
    {"roundup_power2_divisions:[256:4 512:2]", kNever, ""},
    {"roundup_power2_divisions:[abc:4]", kNever, ""},
    {"roundup_power2_divisions:[256:abc]", kNever, ""},
    {"roundup_power2_divisions:[-256:4]", kNever, ""},
    {"roundup_power2_divisions:[256:-4]", kNever, ""},
    {"roundup_power2_divisions:[>:3]", kNever, ""},
    {"roundup_power2_divisions:[256:4]x", 10, "table 4*9 0*7"},
    {"roundup_power2_divisions:[256:4],expandable_segments:True", 8, "expandable, table 4*9 0*7"},
    {"roundup_power2_divisions:[512:4,256:2]", 8, "table 4*8 2 4 0*6"},
    {"roundup_power2_divisions:[256:2,256:4]", 8, "table 2*8 4 0*7"},
    {"roundup_power2_divisions:4,roundup_power2_divisions:[256:2]", 8, "table 2*9 4*7"},
    {"roundup_power2_divisions:[32768:4]", 8, "table 4*16"},
    {"roundup_power2_divisions:[32768:4,>:2]", 8, "table 4*16"},
    {"backend:native", 8, ""},
    {"backend:cudaMallocAsync", 8, ""},
    {"backend:hipMallocAsync", kNever, ""},
    {"backend:Native", kNever, ""},
    {"backend:foo", kNever, ""},
    {"backend:", kNever, ""},
    {"release_lock_on_cudamalloc:True", 8, ""},
    {"release_lock_on_hipmalloc:True", 8, ""},
    {"release_lock_on_cudamalloc:yes", kNever, ""},
    {"pinned_use_cuda_host_register:True", 8, ""},
    {"pinned_use_hip_host_register:True", 8, ""},
    {"pinned_use_cuda_host_register:1", kNever, ""},
    {"pinned_num_register_threads:1", 8, ""},
    {"pinned_num_register_threads:8", 8, ""},
    {"pinned_num_register_threads:128", 8, ""},
    {"pinned_num_register_threads:256", kNever, ""},
    {"pinned_num_register_threads:0", kNever, ""},
    {"pinned_num_register_threads:3", kNever, ""},
    {"pinned_num_register_threads:-1", kNever, ""},
    {"pinned_num_register_threads:8x", 8, ""},
    {"pinned_num_register_threads:abc", kNever, ""},
    {"pinned_use_background_threads:True", 8, ""},
    {"pinned_use_background_threads:true", kNever, ""},
    {"pinned_reserve_segment_size_mb:0", kNever, ""},
    {"pinned_reserve_segment_size_mb:1", 10, ""},
    {"pinned_reserve_segment_size_mb:-1", 10, ""},
    {"pinned_reserve_segment_size_mb:abc", kNever, ""},
    {"pinned_reserve_segment_size_mb:10MB", 10, ""},
    {"graph_capture_record_stream_reuse:True", 9, ""},
    {"graph_capture_record_stream_reuse:False", 9, ""},
    {"graph_capture_record_stream_reuse:1", kNever, ""},
    {"pinned_free_catch_all:True", 15, ""},
    {"pinned_free_catch_all:1", kNever, ""},
    {"throw_on_cudamalloc_oom:True", 15, ""},
    {"throw_on_cudamalloc_oom:true", kNever, ""},
    {"pinned_max_round_threshold_mb:0", 15, ""},
    {"pinned_max_round_threshold_mb:3", 15, ""},
    {"pinned_max_round_threshold_mb:-1", 15, ""},
    {"pinned_max_round_threshold_mb:abc", kNever, ""},
    {"pinned_max_cached_size_mb:0", 15, ""},
    {"pinned_max_cached_size_mb:-1", 15, ""},
    {"pinned_max_cached_size_mb:abc", kNever, ""},
    {"expandable_segments_reserve:0.5", 15, ""},
    {"expandable_segments_reserve:0", 15, ""},
    {"expandable_segments_reserve:8G", 15, ""},
    {"expandable_segments_reserve:8g", 15, ""},
    {"expandable_segments_reserve:8GB", 15, ""},
    {"expandable_segments_reserve:0.5G", 15, ""},
    {"expandable_segments_reserve:512M", 15, ""},
    {"expandable_segments_reserve:", kNever, ""},
    {"expandable_segments_reserve:[0.5]", kNever, ""},
    {"expandable_segments:True,expandable_segments_reserve:0.5x", 15, "expandable"},
    {"expandable_segments:True,expandable_segments_reserve:-1G", 15, "expandable"},
    {"expandable_segments:True,expandable_segments_reserve:.5", 15, "expandable"},
    {"expandable_segments:True,expandable_segments_reserve:0x1", 15, "expandable"},
    {"expandable_segments:True,expandable_segments_reserve:nan", 15, "expandable"},
    {"expandable_segments:True,expandable_segments_reserve:infG", 15, "expandable"},
    {"expandable_segments:True,expandable_segments_reserve:1 G", 15, "expandable"},
    {"expandable_segments_reserve_by_class:0.5", kNever, ""},
    {"expandable_segments_reserve_by_class:[default:0.5]", 15, ""},
    {"expandable_segments_reserve_by_class:[default:0.5,nccl:2G]", 15, ""},
    {"expandable_segments_reserve_by_class:default:0.5", kNever, ""},
    {"expandable_segments_reserve_by_class:[0:0.5]", 15, ""},
    {"expandable_segments_reserve_by_class:[0.5]", kNever, ""},
    {"expandable_segments_reserve_by_class:[]", 15, ""},
    {"expandable_segments_reserve_by_class:", kNever, ""},
    {"expandable_segments_reserve_by_class:[default:abc]", 15, ""},
    {"expandable_segments_reserve_by_class:[default=0.5]", kNever, ""},
    {"expandable_segments:True,expandable_segments_reserve_by_class:[default:0.5]", 15,
     "expandable"},
    {"expandable_segments:True,expandable_segments_reserve_by_class:[main:0.5;nccl:2G]", kNever,
     ""},
};

std::string runs_of(const RoundupTable& table) {
  std::string text;
  for (auto at = table.begin(); at != table.end();) {
    const auto end = std::find_if(at, table.end(), [&](auto other) { return other != *at; });
    text += fmt::format(" {}", *at);
    if (end - at > 1) text += fmt::format("*{}", end - at);
    at = end;
  }
  return text;
}

std::string effect_of(const Settings& settings) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (settings.max_split_size != kUnlimited) {
    add(fmt::format("split {}", static_cast<std::int64_t>(settings.max_split_size)));
  }
  if (settings.garbage_collection_threshold > 0) {
    add(fmt::format("gc {}", settings.garbage_collection_threshold));
  }
  if (settings.expandable_segments) add("expandable");
  if (settings.roundup_power2_divisions != RoundupTable{}) {
    add("table" + runs_of(settings.roundup_power2_divisions));
  }
  if (settings.large_segment_size != kLargeBuffer) {
    add(fmt::format("segment {}", settings.large_segment_size / kMiB));
  }
  return text;
}

TEST(TorchConfTable, EveryReleaseAcceptsAndRefusesAsPytorchDid) {
  for (const Answer& answer : kAnswers) {
    for (const int minor : {8, 9, 10, 15}) {
      SettingIssues issues;
      const Release release{2, minor, 0};
      read_settings(split_conf(answer.conf, release, issues), release, issues, Purpose::lint);
      const bool accepted = std::ranges::none_of(issues, [](const SettingIssue& issue) {
        return issue.severity == SettingIssue::Severity::error;
      });
      EXPECT_EQ(accepted, minor >= answer.since) << answer.conf << " on 2." << minor;
    }
  }
}

TEST(TorchConfTable, WhatIsAcceptedSetsWhatPytorchSaid) {
  for (const Answer& answer : kAnswers) {
    if (answer.since == kNever) continue;
    SettingIssues issues;
    EXPECT_EQ(effect_of(read_conf(answer.conf, kNewestRelease, issues)), answer.effect)
        << answer.conf;
  }
}

}  // namespace
}  // namespace memreplay::torch

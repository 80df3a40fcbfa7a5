#include "core/torch_sizes.hpp"
#include "strategy/torch/rules.hpp"

namespace memreplay::torch {
namespace {

Bytes charged(const std::string& conf, Bytes size, const char* version = "") {
  Pytorch torch(conf, {}, version);
  torch.alloc('a', size);
  return torch.charged('a');
}

const std::string kDivisions = "roundup_power2_divisions:";

}  // namespace

Rules size_rules() {
  return {
      {"1", "A block has at least 512 bytes, and a whole number of them.",
       [] {
         EXPECT_EQ(charged("", 1), 512u);
         EXPECT_EQ(charged("", 513), 1024u);
       }},
      {"1", "1 MiB is of the small pool with segments of 2 MiB, more is of the large one.",
       [] {
         Pytorch torch;
         torch.alloc('a', kMiB);
         torch.alloc('b', kMiB + 1);
         EXPECT_EQ(torch.calls(), "+2 +20");
       }},
      {"1", "From 10 MiB on a segment is for its request, in steps of 2 MiB.",
       [] {
         Pytorch torch;
         torch.alloc('a', 10 * kMiB - 512, 0);
         torch.alloc('b', 10 * kMiB, 1);
         torch.alloc('c', 10 * kMiB + 1, 2);
         EXPECT_EQ(torch.calls(), "+20 +10 +12");
       }},
      {"1", "large_segment_size moves the segment but not the 10 MiB.",
       [] {
         Pytorch torch("large_segment_size_mb:32");
         torch.alloc('a', 10 * kMiB - 512, 0);
         torch.alloc('b', 10 * kMiB, 1);
         EXPECT_EQ(torch.calls(), "+32 +10");
       }},
      {"1", "max_non_split_rounding is the large segment size unless it is set.",
       [] {
         Pytorch torch("large_segment_size_mb:32,max_split_size_mb:64");
         torch.alloc('a', 96 * kMiB);
         torch.free('a');
         torch.alloc('b', 64 * kMiB);
         torch.alloc('c', 64 * kMiB + 1);
         EXPECT_EQ(torch.calls(), "+96 +64");
         EXPECT_EQ(torch.charged('c'), 96 * kMiB);
       }},
      {"1", "Granules have 2 MiB in the small pool, the large segment size in the large one.",
       [] {
         Pytorch torch("expandable_segments:True,large_segment_size_mb:32");
         torch.alloc('a', 1000);
         torch.alloc('b', 3 * kMiB);
         EXPECT_EQ(torch.calls(), "map2 map32");
       }},
      {"2.1.1", "Less than 512 is 512, whatever the divisions.",
       [] {
         EXPECT_EQ(charged(kDivisions + "4", 511), 512u);
         EXPECT_EQ(charged("", 511), 512u);
       }},
      {"2.1.3", "Divisions act on what is larger than 512 times their number.",
       [] {
         EXPECT_EQ(charged(kDivisions + "4", 1200), 1536u);
         EXPECT_EQ(charged(kDivisions + "4", 2048), 2048u);
         EXPECT_EQ(charged(kDivisions + "4", 2049), 2560u);
       }},
      {"2.1.3", "One division is none; in 2.0 it means no rounding.",
       [] {
         EXPECT_EQ(charged(kDivisions + "1", 5000), 5120u);
         EXPECT_EQ(charged(kDivisions + "1", 5000, "2.1"), 5120u);
         EXPECT_EQ(charged(kDivisions + "1", 5000, "2.0"), 5000u);
       }},
      {"2.2", "The first entry is for all below 2 MiB.",
       [] {
         EXPECT_EQ(charged(kDivisions + "[1:4,2:0]", 5121), 6144u);
         EXPECT_EQ(charged(kDivisions + "[1:4,2:0]", 2 * kMiB - 600 * kKiB), 1536 * kKiB);
         EXPECT_EQ(charged(kDivisions + "[1:4,2:0]", 2 * kMiB + 1), 2 * kMiB + 512);
       }},
      {"2.2", "The last entry is for all from 32 GiB on.",
       [] {
         EXPECT_EQ(charged(kDivisions + "[1:0,32768:4]", 32 * kGiB - 1), 32 * kGiB);
         EXPECT_EQ(charged(kDivisions + "[1:0,32768:4]", 40 * kGiB + 1), 48 * kGiB);
         EXPECT_EQ(charged(kDivisions + "[1:0,32768:4]", 80 * kGiB + 1), 96 * kGiB);
       }},
      {"2.3", "A key is where its sizes begin; the first one is also for all below.",
       [] {
         EXPECT_EQ(charged(kDivisions + "[256:4]", 200 * kMiB + 1), 224 * kMiB);
         EXPECT_EQ(charged(kDivisions + "[256:4]", 400 * kMiB + 1), 448 * kMiB);
         EXPECT_EQ(charged(kDivisions + "[256:4]", 512 * kMiB + 1), 512 * kMiB + 512);
       }},
      {"2.3", "The tail of a list begins behind the last key, before 2.10 with it.",
       [] {
         const std::string list = kDivisions + "[256:1,512:2,1024:4,>:8]";
         EXPECT_EQ(charged(list, 1363148801, "2.9"), 1476395008u);
         EXPECT_EQ(charged(list, 1363148801, "2.10"), 1610612736u);
       }},
      {"2.4", "Pools of owners do not share blocks.",
       [] {
         Pytorch torch;
         torch.search(1000, 0, Pytorch::kMemPool);
         torch.search(1000, 0, 0);
         torch.search(1000, 0, Pytorch::kGraphPool);
         EXPECT_EQ(torch.calls(), "+2 +2 +2");
       }},
      {"2.5", "A segment has 2 MiB, the large segment size, or the size in steps of 2 MiB.",
       [] {
         EXPECT_EQ(get_allocation_size(kMiB, 64 * kMiB), 2 * kMiB);
         EXPECT_EQ(get_allocation_size(kMiB + 512, 64 * kMiB), 64 * kMiB);
         EXPECT_EQ(get_allocation_size(10 * kMiB - 512, kLargeBuffer), 20 * kMiB);
         EXPECT_EQ(get_allocation_size(10 * kMiB, 64 * kMiB), 10 * kMiB);
         EXPECT_EQ(get_allocation_size(10 * kMiB + 512, kLargeBuffer), 12 * kMiB);
       }},
      {"2.6", "In the small pool a rest of 512 bytes is split off.",
       [] {
         Pytorch torch;
         torch.alloc('a', kMiB);
         torch.alloc('b', kMiB - 512);
         EXPECT_EQ(torch.charged('b'), kMiB - 512);
         EXPECT_EQ(torch.alloc('c', 512), at(2 * kMiB - 512));
       }},
      {"2.6", "In the large pool a rest must be larger than 1 MiB.",
       [] {
         EXPECT_EQ(charged("", 11 * kMiB), 12 * kMiB);
         EXPECT_EQ(charged("", 11 * kMiB - 512), 11 * kMiB - 512);
       }},
      {"2.6", "A request of max_split_size or more is not split.",
       [] {
         Pytorch torch("max_split_size_mb:24");
         torch.alloc('a', 30 * kMiB);
         torch.free('a');
         torch.alloc('b', 24 * kMiB);
         EXPECT_EQ(torch.charged('b'), 30 * kMiB);
       }},
      {"2.6", "An expandable request leaves a rest of 512 bytes, whatever max_split_size is.",
       [] {
         Pytorch torch("expandable_segments:True,max_split_size_mb:20");
         torch.alloc('a', 30 * kMiB);
         EXPECT_EQ(torch.charged('a'), 30 * kMiB);
         torch.alloc('b', 10 * kMiB - 512);
         EXPECT_EQ(torch.charged('b'), 10 * kMiB - 512);
         EXPECT_EQ(torch.calls(), "map40");
       }},
      {"2.6", "It splits a cached plain block the same way.",
       [] {
         Pytorch torch;
         torch.search(12 * kMiB);
         torch.set("expandable_segments:True");
         torch.alloc('a', 11 * kMiB);
         EXPECT_EQ(torch.charged('a'), 11 * kMiB);
         EXPECT_EQ(torch.calls(), "+12");
       }},
  };
}

}  // namespace memreplay::torch

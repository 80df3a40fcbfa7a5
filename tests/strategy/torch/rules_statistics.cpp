#include "strategy/torch/rules.hpp"

namespace memreplay::torch {

Rules statistics_rules() {
  return {
      {"5", "Each statistic has its sum, its peak, and what was ever added and taken.",
       [] {
         Pytorch torch;
         torch.alloc('a', 1000);
         torch.alloc('b', 600);
         torch.free('a');
         torch.alloc('c', 100);
         EXPECT_EQ(torch.stats("allocation.all"), (Four{2, 2, 3, 1}));
         EXPECT_EQ(torch.stats("allocated_bytes.all"), (Four{1536, 2048, 2560, 1024}));
         EXPECT_EQ(torch.stats("requested_bytes.all"), (Four{700, 1600, 1700, 1000}));
       }},
      {"5", "Peaks of the pools are each their own.",
       [] {
         Pytorch torch;
         torch.search(1000);
         torch.search(3 * kMiB);
         EXPECT_EQ(torch.stat("allocated_bytes.small_pool.peak"), 1024);
         EXPECT_EQ(torch.stat("allocated_bytes.large_pool.peak"), at(3 * kMiB));
         EXPECT_EQ(torch.stat("allocated_bytes.all.peak"), at(3 * kMiB));
       }},
      {"5", "The pool decides, not the size of the block.",
       [] {
         Pytorch torch;
         torch.alloc('a', 9 * kMiB);
         torch.alloc('b', 10 * kMiB - 512 * kKiB);  // leaves 1.5 MiB
         torch.alloc('c', kMiB + 1);                // all of it: too little would be left
         EXPECT_EQ(torch.charged('c'), 1536 * kKiB);
         EXPECT_EQ(torch.stat("inactive_split_bytes.small_pool.allocated"), 0);
         EXPECT_EQ(torch.stat("active.large_pool.current"), 3);
       }},
      {"5", "Calls to the device are counted each way.",
       [] {
         Pytorch torch("expandable_segments:True");
         torch.alloc('a', 30 * kMiB);
         torch.alloc('b', 30 * kMiB);
         torch.free('a');
         torch.free('b');
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "map40 map20 unmap60");
         EXPECT_EQ(torch.stat("num_device_alloc"), 2);
         EXPECT_EQ(torch.stat("num_device_free"), 1);
       }},
      {"5", "max_split_size is shown as a signed number of bytes.",
       [] {
         EXPECT_EQ(Pytorch().stat("max_split_size"), -1);
         EXPECT_EQ(Pytorch("max_split_size_mb:64").stat("max_split_size"), at(64 * kMiB));
       }},
      {"5", "Counters are there from their release on.",
       [] {
         EXPECT_FALSE(Pytorch("", {}, "2.2").find_stat("num_device_alloc"));
         EXPECT_TRUE(Pytorch("", {}, "2.3").find_stat("num_device_free"));
         EXPECT_FALSE(Pytorch("", {}, "2.11").find_stat("num_oom_rejections"));
         EXPECT_TRUE(Pytorch("", {}, "2.12").find_stat("num_oom_rejections"));
       }},
      {"5", "Since 2.13 what each private pool reserves is shown, once there is such a pool.",
       [] {
         const std::string key = "reserved_bytes_by_private_pools.0_1.all";
         for (const char* version : {"2.12", "2.13"}) {
           Pytorch torch("", {}, version);
           torch.alloc('a', 3 * kMiB);
           EXPECT_FALSE(torch.find_stat(key + ".current"));
           torch.search(3 * kMiB, 0, Pytorch::kMemPool);
           ASSERT_EQ(torch.find_stat(key + ".current").has_value(), version[3] == '3');
           if (version[3] != '3') continue;
           torch.release_pool(Pytorch::kMemPool);
           torch.empty_cache();
           EXPECT_EQ(torch.stats(key), (Four{0, at(20 * kMiB), at(20 * kMiB), at(20 * kMiB)}));
         }
       }},
  };
}

}  // namespace memreplay::torch

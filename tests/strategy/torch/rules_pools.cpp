#include "strategy/torch/rules.hpp"

namespace memreplay::torch {

Rules pool_rules() {
  return {
      {"4.2", "A block that other streams use comes free when they are done, not before.",
       [] {
         Pytorch torch;
         torch.alloc('a', 600);
         torch.request_free('a');
         EXPECT_EQ(torch.alloc('b', 600), 0x400);
         torch.complete_free('a');
         EXPECT_EQ(torch.alloc('c', 600), 0);
       }},
      {"4.2", "Such blocks come free in any order.",
       [] {
         Pytorch torch;
         for (const char name : {'a', 'b', 'c'}) torch.alloc(name, 600);
         torch.request_free('a');
         torch.request_free('b');
         torch.complete_free('b');
         EXPECT_EQ(torch.alloc('d', 600), 0x400);
         torch.complete_free('a');
         EXPECT_EQ(torch.alloc('e', 600), 0);
       }},
      {"4.3", "A synchronisation completes all of them and is counted.",
       [] {
         Pytorch torch;
         torch.alloc('a', 600);
         torch.alloc('b', 600);
         torch.request_free('a');
         torch.request_free('b');
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "+2 -2");
         EXPECT_EQ(torch.stat("active.all.current"), 0);
         EXPECT_EQ(torch.stat("num_sync_all_streams"), 1);
         torch.complete_free('b');
         torch.complete_free('a');
         EXPECT_EQ(torch.stat("active.all.current"), 0);
       }},
      {"4.6", "Free blocks of a private pool serve that pool alone.",
       [] {
         Pytorch torch;
         torch.search(3 * kMiB, 0, Pytorch::kMemPool);
         torch.alloc('a', 3 * kMiB, 0, Pytorch::kGraphPool);
         torch.alloc('b', 3 * kMiB);
         EXPECT_EQ(torch.calls(), "+20 +20 +20");
         EXPECT_EQ(torch.alloc('c', 3 * kMiB, 0, Pytorch::kMemPool), 0);
       }},
      {"4.6", "Statistics are of all pools together.",
       [] {
         Pytorch torch;
         torch.alloc('a', 3 * kMiB, 0, Pytorch::kMemPool);
         torch.alloc('b', 1000, 0, Pytorch::kGraphPool);
         EXPECT_EQ(torch.stat("active_bytes.all.current"), at(3 * kMiB + 1024));
         EXPECT_EQ(torch.stat("reserved_bytes.small_pool.current"), at(2 * kMiB));
       }},
      {"4.6", "A pool that is released gives its segments back at the next release only.",
       [] {
         Pytorch torch;
         torch.search(3 * kMiB, 0, Pytorch::kMemPool);
         torch.release_pool(Pytorch::kMemPool);
         EXPECT_EQ(torch.held(), 20 * kMiB);
         torch.empty_cache();
         EXPECT_EQ(torch.held(), 0u);
       }},
      {"4.6", "A pool with use_on_oom lends as long as somebody holds it.",
       [] {
         for (const bool released : {false, true}) {
           SimulatedDevice device({.capacity = 100 * kMiB});
           Allocator allocator(device, {}, kNewestRelease, std::vector<PoolId>(2),
                               {{}, {.use_on_oom = true}});
           const Placement lent = *allocator.allocate({60 * kMiB, 0, 0, 1});
           if (released) allocator.release_pool(1, PoolCache::returned);
           allocator.free(lent.handle, {});
           EXPECT_TRUE(allocator.allocate({60 * kMiB, 0, 0, 0}));
           EXPECT_EQ(allocator.usage().oom_retries, released ? 1u : 0u);
         }
       }},
      {"4.6", "Private pools use expandable segments since 2.5.",
       [] {
         Pytorch before("expandable_segments:True", {}, "2.4");
         before.alloc('a', 3 * kMiB, 0, Pytorch::kGraphPool);
         EXPECT_EQ(before.calls(), "+20");
         Pytorch since("expandable_segments:True", {}, "2.5");
         since.alloc('a', 3 * kMiB, 0, Pytorch::kGraphPool);
         EXPECT_EQ(since.calls(), "map20");
       }},
      {"2.6", "Up to 2.4 the option alone decides how a plain block of a private pool is split.",
       [] {
         Pytorch torch("expandable_segments:True", {}, "2.4");
         torch.alloc('a', 11 * kMiB, 0, Pytorch::kGraphPool);
         EXPECT_EQ(torch.calls(), "+12");
         EXPECT_EQ(torch.charged('a'), 11 * kMiB);
       },
       "the allocator asks whether the request is expandable"},
  };
}

}  // namespace memreplay::torch

#include "strategy/torch/rules.hpp"

namespace memreplay::torch {
namespace {

const std::string kOn = "expandable_segments:True";

}  // namespace

Rules expandable_rules() {
  return {
      {"4.7", "A reservation covers the device and an eighth, in whole granules.",
       [] {
         Pytorch torch(kOn, 1000 * kMiB);
         EXPECT_EQ(torch.alloc('a', 3 * kMiB), 0);
         EXPECT_EQ(torch.alloc('b', 1000), at(1140 * kMiB));  // 1125, in steps of 20
         EXPECT_EQ(torch.alloc('c', 1000, 1), at((1140 + 1126) * kMiB));
       }},
      {"4.7", "Memory of others does not make it shorter.",
       [] {
         Pytorch torch(kOn, 1000 * kMiB, "", {.reserve = 500 * kMiB});
         torch.alloc('a', 3 * kMiB);
         EXPECT_EQ(torch.alloc('b', 1000), at(1140 * kMiB));
       }},
      {"4.7", "expandable_segments_reserve is a share of the device, or gibibytes.",
       [] {
         Pytorch share(kOn + ",expandable_segments_reserve:0.1", 1010 * kMiB);
         share.alloc('a', 3 * kMiB);
         EXPECT_EQ(share.alloc('b', 1000), at(120 * kMiB));  // 101, in steps of 20
         Pytorch absolute(kOn + ",expandable_segments_reserve:1G", 4 * kGiB);
         absolute.alloc('a', 3 * kMiB);
         EXPECT_EQ(absolute.alloc('b', 1000), at(1040 * kMiB));
       }},
      {"4.7", "It never makes a reservation longer.",
       [] {
         Pytorch torch(kOn + ",expandable_segments_reserve:2", 1000 * kMiB);
         torch.alloc('a', 3 * kMiB);
         EXPECT_EQ(torch.alloc('b', 1000), at(1140 * kMiB));
       }},
      {"4.7", "What is larger than a reservation fails as on a full device; nothing is mapped.",
       [] {
         Pytorch torch(kOn + ",expandable_segments_reserve:0.1", 1000 * kMiB);
         EXPECT_EQ(torch.alloc('a', 100 * kMiB + 512), -1);
         EXPECT_EQ(torch.calls(), "");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
         EXPECT_EQ(torch.stat("num_ooms"), 1);
         EXPECT_EQ(torch.alloc('a', 100 * kMiB), at(200 * kMiB));  // two addresses were tried
       }},
      {"4.7", "No block spans two reservations; a full one is followed by another.",
       [] {
         Pytorch torch(kOn + ",expandable_segments_reserve:0.1", 1000 * kMiB);
         torch.alloc('a', 70 * kMiB);
         EXPECT_EQ(torch.alloc('b', 40 * kMiB), at(100 * kMiB));
         EXPECT_EQ(torch.alloc('c', 30 * kMiB), at(70 * kMiB));
       }},
      {"4.7", "The lowest unmapped range that can reach the size is extended, from its free front.",
       [] {
         Pytorch torch(kOn);
         for (const char name : {'a', 'b', 'c'}) torch.alloc(name, 20 * kMiB);
         torch.free('b');
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "map20 map20 map20 unmap20");
         EXPECT_EQ(torch.alloc('d', 25 * kMiB), at(60 * kMiB));
         EXPECT_EQ(torch.alloc('e', 16 * kMiB), at(20 * kMiB));
         EXPECT_EQ(torch.calls(), "map40 map20");
       }},
      {"4.7", "A block that other streams still use ends such a range.",
       [] {
         Pytorch torch(kOn);
         torch.alloc('a', 20 * kMiB);
         torch.request_free('a');
         EXPECT_EQ(torch.alloc('b', 10 * kMiB), at(20 * kMiB));
       }},
      {"4.7", "Only what is missing is mapped, in whole granules.",
       [] {
         Pytorch torch(kOn);
         torch.alloc('a', 3 * kMiB);
         EXPECT_EQ(torch.alloc('b', 37 * kMiB), at(3 * kMiB));
         EXPECT_EQ(torch.alloc('c', 512 + kMiB), at(40 * kMiB));
         EXPECT_EQ(torch.calls(), "map20 map20 map20");
       }},
      {"4.7", "What was mapped before a refusal stays until the retry releases it.",
       [] {
         Pytorch torch(kOn, 50 * kMiB);
         torch.alloc('a', 20 * kMiB);
         torch.alloc('b', 20 * kMiB);
         torch.free('a');
         torch.empty_cache();
         torch.free('b');
         torch.calls();
         EXPECT_EQ(torch.alloc('c', 60 * kMiB), -1);
         EXPECT_EQ(torch.calls(), "map20 unmap40");
         EXPECT_EQ(torch.stat("reserved_bytes.all.allocated"), at(60 * kMiB));
       }},
      {"4.7", "segment, inactive_split and oversize_segments leave expandable segments out.",
       [] {
         Pytorch torch(kOn + ",max_split_size_mb:20");
         torch.alloc('a', 30 * kMiB);
         EXPECT_EQ(torch.stat("segment.all.allocated"), 0);
         EXPECT_EQ(torch.stats("inactive_split.all"), Four{});
         EXPECT_EQ(torch.stats("inactive_split_bytes.all"), Four{});
         EXPECT_EQ(torch.stat("oversize_segments.allocated"), 0);
         EXPECT_EQ(torch.stat("oversize_allocations.current"), 1);
         EXPECT_EQ(torch.stat("reserved_bytes.all.current"), at(40 * kMiB));
         EXPECT_EQ(torch.stat("num_device_alloc"), 1);
       }},
      {"4.7", "Only granules that are free as a whole are unmapped.",
       [] {
         Pytorch torch(kOn);
         torch.alloc('a', 10 * kMiB);
         torch.alloc('b', 40 * kMiB);
         torch.alloc('c', 10 * kMiB);
         torch.free('b');
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "map20 map40 unmap20");
         EXPECT_EQ(torch.blocks(), "10 [10]|[10] 10");
         EXPECT_EQ(torch.stat("num_device_free"), 1);
       }},
      {"4.7", "Where no granule is, nothing happens at all.",
       [] {
         Pytorch torch(kOn);
         torch.alloc('a', 3 * kMiB);
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "map20");
         EXPECT_EQ(torch.stat("num_device_free"), 0);
       }},
      {"4.7", "A reservation with nothing left in it is given up.",
       [] {
         Pytorch torch(kOn, 1000 * kMiB);
         torch.search(3 * kMiB);
         torch.empty_cache();
         EXPECT_EQ(torch.alloc('a', 3 * kMiB), at(1140 * kMiB));
       }},
      {"4.7", "A recorded reservation can be given up too.",
       [] {
         Pytorch torch(kOn);
         torch.adopt(
             {.expandable = true,
              .blocks = {{.size = 5 * kMiB, .state = BlockState::allocated}, {.size = 15 * kMiB}}},
             "a");
         torch.free('a');
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "unmap20");
         EXPECT_EQ(torch.alloc('b', 3 * kMiB), 0);
       }},
      {"4.7", "A retry unmaps every free granule of every pool.",
       [] {
         Pytorch torch(kOn, 100 * kMiB);
         torch.search(1000);
         torch.search(30 * kMiB, 1);
         torch.calls();
         torch.alloc('a', 80 * kMiB);
         EXPECT_EQ(torch.calls(), "unmap40 unmap2 map80");
       }},
      {"4.7", "Expandable requests use cached plain blocks, plain ones no expandable ones.",
       [] {
         Pytorch torch;
         torch.search(30 * kMiB);
         torch.set(kOn);
         EXPECT_EQ(torch.alloc('a', 30 * kMiB), 0);
         torch.search(20 * kMiB, 1);
         torch.set("");
         torch.calls();
         torch.alloc('b', 20 * kMiB, 1);
         EXPECT_EQ(torch.calls(), "+20");
       }},
  };
}

}  // namespace memreplay::torch

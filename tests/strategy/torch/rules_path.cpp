#include "strategy/torch/rules.hpp"

namespace memreplay::torch {
namespace {

// Chooses from two equal free blocks of one segment: the lower one is the younger object.
std::int64_t choice_in_a_segment(const char* version, const char* freed = "ac") {
  Pytorch torch("", {}, version);
  for (const char name : {'a', 'b', 'c', 'd'}) torch.alloc(name, kKiB);
  torch.free('a');
  torch.free('b');  // takes over 'a'
  torch.alloc('a', kKiB);
  torch.alloc('b', kKiB);
  torch.free(freed[0]);
  torch.free(freed[1]);
  return torch.alloc('e', kKiB);
}

// Chooses from two equal free blocks in two segments: the younger one has the lower address.
std::int64_t choice_of_segments(const char* version) {
  Pytorch torch("", {}, version, first_fit());
  for (const char name : {'a', 'b', 'c', 'd'}) torch.alloc(name, kMiB);
  torch.free('a');
  torch.free('b');
  torch.empty_cache();
  EXPECT_EQ(torch.alloc('a', kMiB), 0);
  torch.free('d');
  return torch.alloc('e', kMiB);
}

}  // namespace

Rules path_rules() {
  return {
      {"3.1", "The blocks of a segment tile it in address order.",
       [] {
         Pytorch torch;
         torch.alloc('a', 2 * kMiB);
         torch.alloc('b', 3 * kMiB);
         torch.alloc('c', 4 * kMiB);
         torch.free('b');
         EXPECT_EQ(torch.blocks(), "2 [3] 4 [11]");
       }},
      {"3.2", "Up to 2.11 the lowest of equal blocks is taken.",
       [] {
         EXPECT_EQ(choice_in_a_segment("2.11"), 0);
         EXPECT_EQ(choice_of_segments("2.11"), at(kMiB));
       }},
      {"3.2", "In 2.12 the oldest object of equal ones is taken; a merge keeps the freed one.",
       [] {
         EXPECT_EQ(choice_in_a_segment("2.12"), 2048);
         EXPECT_EQ(choice_in_a_segment("2.12", "ca"), 2048);
         EXPECT_EQ(choice_of_segments("2.12"), at(3 * kMiB));
       }},
      {"3.2", "Since 2.13 the block of the oldest segment is taken, then the lowest.",
       [] {
         EXPECT_EQ(choice_in_a_segment("2.13"), 0);
         EXPECT_EQ(choice_of_segments("2.13"), at(3 * kMiB));
       }},
      {"3.2", "Streams have blocks of their own.",
       [] {
         Pytorch torch;
         torch.search(600);
         EXPECT_EQ(torch.alloc('a', 600, 1), at(2 * kMiB));
         EXPECT_EQ(torch.alloc('b', 600, 0), 0);
       }},
      {"3.3.1", "Every search of a pool ages its free blocks, a failed one too.",
       [] {
         Pytorch torch("garbage_collection_threshold:0.5,per_process_memory_fraction:0.5",
                       2000 * kMiB);
         torch.alloc('a', 200 * kMiB);
         torch.alloc('b', 202 * kMiB);
         torch.free('a');
         for (StreamIndex stream = 1; stream <= 3; ++stream) torch.alloc('s', 10 * kMiB, stream);
         torch.free('b');
         torch.alloc('c', 80 * kMiB, 4);
         torch.calls();
         torch.alloc('d', 10 * kMiB, 5);  // ages 5 and 2
         EXPECT_EQ(torch.calls(), "-200 +10");
       }},
      {"3.3.1", "Searches of other pools age nothing.",
       [] {
         Pytorch torch("garbage_collection_threshold:0.5,per_process_memory_fraction:0.5",
                       2000 * kMiB);
         torch.alloc('a', 240 * kMiB);
         torch.alloc('b', 242 * kMiB);
         torch.free('a');
         for (int i = 0; i < 5; ++i) {
           torch.search(1000);
           torch.search(2 * kMiB, 0, Pytorch::kMemPool);
         }
         torch.free('b');
         torch.calls();
         torch.alloc('c', 300 * kMiB, 1);  // both have age 1
         EXPECT_EQ(torch.calls(), "-240 -242 +300");
       }},
      {"3.3.2", "The smallest block that is large enough is taken, not the first.",
       [] {
         Pytorch torch;
         torch.alloc('a', 4 * kMiB);
         torch.alloc('b', 2 * kMiB);
         torch.alloc('c', 3 * kMiB);
         torch.alloc('d', 2 * kMiB);
         torch.free('a');
         torch.free('c');
         EXPECT_EQ(torch.alloc('e', 3 * kMiB), at(6 * kMiB));
         EXPECT_EQ(torch.alloc('f', 3 * kMiB), 0);
       }},
      {"3.3.3", "A hole is preferred to a smaller tail that can grow.",
       [] {
         Pytorch torch("expandable_segments:True");
         torch.alloc('a', 8 * kMiB);
         torch.alloc('b', 5 * kMiB);  // the tail has 7 MiB
         torch.free('a');
         EXPECT_EQ(torch.alloc('c', 7 * kMiB), 0);
       }},
      {"3.3.3", "A plain request passes over expandable blocks to the next plain one.",
       [] {
         Pytorch torch;
         torch.alloc('a', 30 * kMiB);
         torch.set("expandable_segments:True");
         torch.search(10 * kMiB);
         torch.free('a');
         torch.set("");
         torch.calls();
         EXPECT_EQ(torch.alloc('b', 15 * kMiB), 0);
         torch.alloc('c', 16 * kMiB);
         EXPECT_EQ(torch.calls(), "+16");
       }},
      {"3.3.4", "A smaller request does not get a block of max_split_size.",
       [] {
         Pytorch torch("max_split_size_mb:20");
         torch.search(20 * kMiB);
         torch.search(19 * kMiB);
         EXPECT_EQ(torch.calls(), "+20 +20");
         Pytorch below("max_split_size_mb:21");
         below.search(20 * kMiB);
         below.search(19 * kMiB);
         EXPECT_EQ(below.calls(), "+20");
       }},
      {"3.3.5", "A block may be less than max_non_split_rounding larger than the request.",
       [] {
         const std::string limit = "max_split_size_mb:100";
         for (const auto& [conf, rounding] :
              {std::pair(limit, 20 * kMiB),
               std::pair(limit + ",max_non_split_rounding_mb:40", 40 * kMiB)}) {
           Pytorch torch(conf);
           torch.search(150 * kMiB);
           torch.alloc('b', 150 * kMiB - rounding);
           EXPECT_LT(torch.charged('b'), 150 * kMiB);
           torch.alloc('c', 150 * kMiB - rounding + 1);
           EXPECT_EQ(torch.charged('c'), 150 * kMiB);
         }
       }},
      {"3.3.6", "What is taken is no longer free.",
       [] {
         Pytorch torch;
         torch.search(11 * kMiB);
         EXPECT_EQ(torch.alloc('a', 11 * kMiB), 0);
         EXPECT_NE(torch.alloc('b', 11 * kMiB), 0);
       }},
      {"3.4.4", "Where a free block fits, nothing is collected.",
       [] {
         Pytorch torch("garbage_collection_threshold:0.1,per_process_memory_fraction:0.5",
                       1000 * kMiB);
         torch.search(200 * kMiB);
         torch.search(300 * kMiB);
         torch.calls();
         torch.alloc('a', 300 * kMiB);
         EXPECT_EQ(torch.calls(), "");
       }},
      {"3.4.5", "Garbage is collected before the device is asked.",
       [] {
         Pytorch torch("garbage_collection_threshold:0.5,per_process_memory_fraction:0.5",
                       2000 * kMiB);
         torch.search(600 * kMiB);
         torch.alloc('a', 300 * kMiB, 1);
         EXPECT_EQ(torch.calls(), "+600 -600 +300");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 0);
       }},
      {"3.4.5", "The second stage comes before the release of everything and is no retry.",
       [] {
         Pytorch torch("max_split_size_mb:20", 100 * kMiB);
         torch.alloc('a', 40 * kMiB);
         torch.alloc('b', 40 * kMiB);
         torch.search(1000);
         torch.free('a');
         torch.free('b');
         torch.alloc('c', 60 * kMiB);
         EXPECT_EQ(torch.calls(), "+40 +40 +2 -40 -40 +60");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 0);
         EXPECT_EQ(torch.stat("num_sync_all_streams"), 0);
       }},
      {"3.4.5", "The third stage releases everything and asks once more.",
       [] {
         Pytorch torch("", 100 * kMiB);
         torch.search(1000);
         torch.search(60 * kMiB);
         torch.alloc('a', 80 * kMiB);
         EXPECT_EQ(torch.calls(), "+2 +60 -60 -2 +80");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
         EXPECT_EQ(torch.stat("num_ooms"), 0);
       }},
      {"3.4.5", "After the release the pool is not searched again.",
       [] {
         Pytorch torch("", 20 * kMiB);
         torch.alloc('a', 9 * kMiB);
         torch.alloc('b', 9 * kMiB);
         torch.request_free('b');
         EXPECT_EQ(torch.alloc('c', 9 * kMiB), -1);
         EXPECT_EQ(torch.blocks(), "9 [11]");  // completed by the synchronisation, too late
         torch.complete_free('b');
         EXPECT_EQ(torch.alloc('c', 9 * kMiB), at(9 * kMiB));
       }},
      {"3.4.6", "What no stage finds is an OOM.",
       [] {
         Pytorch torch("", 100 * kMiB);
         EXPECT_EQ(torch.alloc('a', 101 * kMiB), -1);
         EXPECT_EQ(torch.stat("num_ooms"), 1);
         EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
       }},
      {"3.5", "A split gives the front; the rest stays free.",
       [] {
         Pytorch torch;
         EXPECT_EQ(torch.alloc('a', 3 * kMiB), 0);
         EXPECT_EQ(torch.alloc('b', 3 * kMiB), at(3 * kMiB));
         EXPECT_EQ(torch.blocks(), "3 3 [14]");
       }},
      {"3.5", "inactive_split grows with the first split and shrinks with what is taken.",
       [] {
         Pytorch torch;
         torch.alloc('a', 512);
         EXPECT_EQ(torch.stat("inactive_split_bytes.all.current"), at(2 * kMiB - 512));
         torch.alloc('b', 512);
         torch.alloc('c', kMiB);
         EXPECT_EQ(torch.stats("inactive_split.all"), (Four{1, 1, 1, 0}));
         torch.alloc('d', kMiB - 1024);
         const std::int64_t rest = at(2 * kMiB - 512);
         EXPECT_EQ(torch.stats("inactive_split.all"), (Four{0, 1, 1, 1}));
         EXPECT_EQ(torch.stats("inactive_split_bytes.all"), (Four{0, rest, rest, rest}));
       }},
      {"3.5", "A block of max_split_size is an oversize allocation.",
       [] {
         Pytorch torch("max_split_size_mb:20");
         torch.alloc('a', 18 * kMiB);
         EXPECT_EQ(torch.stat("oversize_allocations.current"), 0);
         torch.alloc('b', 20 * kMiB - 512);  // gets all 20 MiB
         EXPECT_EQ(torch.stat("oversize_allocations.current"), 1);
       }},
      {"3.6", "allocated shrinks when the owner frees, active and requested when all streams did.",
       [] {
         Pytorch torch;
         torch.alloc('a', 1000);
         torch.request_free('a');
         EXPECT_EQ(torch.stat("allocation.all.current"), 0);
         EXPECT_EQ(torch.stat("allocated_bytes.all.current"), 0);
         EXPECT_EQ(torch.stat("active.all.current"), 1);
         EXPECT_EQ(torch.stat("active_bytes.all.current"), 1024);
         EXPECT_EQ(torch.stat("requested_bytes.all.current"), 1000);
         torch.complete_free('a');
         EXPECT_EQ(torch.stat("active.all.current"), 0);
         EXPECT_EQ(torch.stat("requested_bytes.all.current"), 0);
       }},
      {"3.6", "Oversize is judged by the limit of the moment.",
       [] {
         Pytorch torch("max_split_size_mb:20");
         torch.alloc('a', 20 * kMiB);
         torch.set("");
         torch.free('a');
         EXPECT_EQ(torch.stat("oversize_allocations.current"), 1);
       }},
      {"3.7", "A free block merges with the free ones on both sides; the change is counted net.",
       [] {
         Pytorch torch;
         for (const char name : {'a', 'b', 'c'}) torch.alloc(name, 512);
         for (const char name : {'a', 'c', 'b'}) torch.free(name);
         EXPECT_EQ(torch.blocks(), "[2]");
         const std::int64_t all = at(2 * kMiB);
         EXPECT_EQ(torch.stats("inactive_split.all"), (Four{0, 2, 2, 2}));
         EXPECT_EQ(torch.stats("inactive_split_bytes.all"),
                   (Four{0, all - 512, all + 512, all + 512}));
       }},
      {"3.7", "It does not merge with one that other streams still use.",
       [] {
         Pytorch torch;
         torch.alloc('a', kKiB);
         torch.alloc('b', kKiB);
         torch.request_free('a');
         torch.free('b');
         EXPECT_EQ(torch.alloc('c', 2 * kKiB), 1024);
         torch.free('c');
         torch.complete_free('a');
         EXPECT_EQ(torch.blocks(), "[2]");
       }},
  };
}

}  // namespace memreplay::torch

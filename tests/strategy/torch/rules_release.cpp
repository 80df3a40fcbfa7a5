#include "strategy/torch/rules.hpp"

namespace memreplay::torch {
namespace {

// A limit of 1000 MiB, of which half may be used before garbage is collected.
const std::string kCollecting = "garbage_collection_threshold:0.5,per_process_memory_fraction:0.5";
constexpr Bytes kTwiceTheLimit = 2000 * kMiB;

// Blocks of these sizes in MiB, all free in the end.
void cache(Pytorch& torch, std::initializer_list<Bytes> mebibytes, StreamIndex stream = 0,
           PoolIndex pool = 0) {
  char name = 'A';
  for (const Bytes size : mebibytes) torch.alloc(name++, size * kMiB, stream, pool);
  while (name > 'A') torch.free(--name);
  torch.calls();
}

}  // namespace

Rules release_rules() {
  return {
      {"3.8", "Nothing is collected up to the threshold, the equal included.",
       [] {
         for (const auto& [size, calls] :
              {std::pair(500 * kMiB, "+100"), std::pair(502 * kMiB, "-502 +100")}) {
           Pytorch torch(kCollecting, kTwiceTheLimit);
           torch.search(size);
           torch.calls();
           torch.alloc('a', 100 * kMiB, 1);
           EXPECT_EQ(torch.calls(), calls);
         }
       }},
      {"3.8", "Without a limit nothing is collected.",
       [] {
         Pytorch torch("garbage_collection_threshold:0.5", kTwiceTheLimit);
         cache(torch, {1500});
         torch.alloc('a', 100 * kMiB, 1);
         EXPECT_EQ(torch.calls(), "+100");
       }},
      {"3.8", "Whole blocks of the default large pool alone are collected.",
       [] {
         Pytorch torch(kCollecting, kTwiceTheLimit);
         torch.alloc('a', 2 * kMiB);  // with a free rest of 18 MiB
         torch.search(1000);
         torch.search(300 * kMiB, 0, Pytorch::kMemPool);
         torch.alloc('b', 250 * kMiB);
         torch.calls();
         torch.alloc('c', 100 * kMiB, 1);
         EXPECT_EQ(torch.calls(), "+100");
       }},
      {"3.8", "Blocks as old as the average go, and a round is finished when enough is free.",
       [] {
         Pytorch torch(kCollecting, kTwiceTheLimit);
         torch.alloc('a', 120 * kMiB);
         cache(torch, {200, 202});
         torch.alloc('b', 300 * kMiB);
         EXPECT_EQ(torch.calls(), "-200 -202 +300");
       }},
      {"3.8", "Expandable blocks count for the average but stay.",
       [] {
         Pytorch torch(kCollecting, kTwiceTheLimit);
         torch.set("expandable_segments:True,expandable_segments_reserve:0.00001," + kCollecting);
         torch.alloc('e', 20 * kMiB);  // a whole reservation
         torch.set(kCollecting);
         torch.alloc('a', 300 * kMiB);
         torch.alloc('b', 250 * kMiB);
         torch.free('e');
         for (int i = 0; i < 6; ++i) torch.alloc('s', 2 * kMiB, 1);
         torch.free('a');
         for (int i = 0; i < 3; ++i) torch.alloc('s', 2 * kMiB, 1);
         torch.free('b');
         torch.calls();
         torch.alloc('c', 400 * kMiB, 2);  // ages 10, 4 and 1
         EXPECT_EQ(torch.calls(), "+400");
       }},
      {"3.9.1", "A retry is counted when the third stage begins, whatever comes of it.",
       [] {
         Pytorch torch("", 100 * kMiB);
         torch.search(60 * kMiB);
         torch.alloc('a', 80 * kMiB);
         EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
         EXPECT_EQ(torch.alloc('b', 40 * kMiB), -1);
         EXPECT_EQ(torch.stat("num_alloc_retries"), 2);
       }},
      {"3.9.2", "A segment may fill the limit but not pass it.",
       [] {
         Pytorch torch("per_process_memory_fraction:0.2", 100 * kMiB);
         EXPECT_EQ(torch.alloc('a', 3 * kMiB), 0);
         EXPECT_EQ(torch.alloc('b', 1000), -1);
         Pytorch smaller("per_process_memory_fraction:0.19", 100 * kMiB);
         EXPECT_EQ(smaller.alloc('a', 3 * kMiB), -1);
       }},
      {"3.9.2", "Granules pass the limit where a segment of the request's size would not.",
       [] {
         Pytorch torch("expandable_segments:True,per_process_memory_fraction:0.39", 100 * kMiB);
         torch.alloc('a', 19 * kMiB);
         EXPECT_EQ(torch.alloc('b', 15 * kMiB), at(19 * kMiB));  // 20 + 16, mapped are 40
         EXPECT_EQ(torch.held(), 40 * kMiB);
       }},
      {"3.9.2", "Such a segment is refused where the granules that it needs would fit.",
       [] {
         Pytorch torch("expandable_segments:True,per_process_memory_fraction:0.45", 100 * kMiB);
         torch.alloc('a', 14 * kMiB);
         EXPECT_EQ(torch.alloc('b', 25 * kMiB), -1);  // 20 + 26; mapped would be 40
         EXPECT_EQ(torch.held(), 20 * kMiB);
       }},
      {"3.9.4", "A device that is full is asked again after the release.",
       [] {
         Pytorch torch("", 100 * kMiB);
         cache(torch, {30, 40});
         EXPECT_GE(torch.alloc('a', 98 * kMiB), 0);
         EXPECT_EQ(torch.calls(), "-30 -40 +98");
       }},
      {"3.9.5", "A new segment counts in segment, reserved_bytes and num_device_alloc.",
       [] {
         Pytorch torch("max_split_size_mb:20");
         torch.alloc('a', 18 * kMiB);
         EXPECT_EQ(torch.stat("oversize_segments.current"), 0);
         torch.alloc('b', 20 * kMiB);
         EXPECT_EQ(torch.stat("segment.large_pool.current"), 2);
         EXPECT_EQ(torch.stat("reserved_bytes.large_pool.current"), at(38 * kMiB));
         EXPECT_EQ(torch.stat("num_device_alloc"), 2);
         EXPECT_EQ(torch.stat("oversize_segments.current"), 1);
       }},
      {"3.10", "The limit is a share of the whole device, whatever others hold of it.",
       [] {
         Pytorch torch("per_process_memory_fraction:0.5", 100 * kMiB, "", {.reserve = 50 * kMiB});
         EXPECT_EQ(torch.alloc('a', 50 * kMiB), 0);
       }},
      {"3.10", "Cached memory counts for the limit.",
       [] {
         Pytorch torch("per_process_memory_fraction:0.5", 100 * kMiB);
         cache(torch, {30});
         torch.alloc('a', 30 * kMiB, 1);
         EXPECT_EQ(torch.calls(), "-30 +30");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
       }},
      {"3.10", "Since 2.10 a fraction of 1 is no limit.",
       [] {
         Pytorch torch("garbage_collection_threshold:0.5,per_process_memory_fraction:1",
                       1000 * kMiB);
         cache(torch, {600});
         torch.alloc('a', 300 * kMiB, 1);
         EXPECT_EQ(torch.calls(), "+300");
       }},
      {"3.10", "Up to 2.9 a fraction of 1 is a limit, and garbage is collected under it.",
       [] {
         Pytorch torch("garbage_collection_threshold:0.5,per_process_memory_fraction:1",
                       1000 * kMiB, "2.9");
         cache(torch, {600});
         torch.alloc('a', 300 * kMiB, 1);
         EXPECT_EQ(torch.calls(), "-600 +300");
       }},
      {"3.11", "An OOM is counted once and leaves the allocator usable.",
       [] {
         Pytorch torch("", 100 * kMiB);
         EXPECT_EQ(torch.alloc('a', 200 * kMiB), -1);
         EXPECT_EQ(torch.stat("num_ooms"), 1);
         EXPECT_EQ(torch.stat("num_oom_rejections"), 0);
         EXPECT_EQ(torch.alloc('b', 100 * kMiB), 0);
       }},
      {"3.12.1", "Without max_split_size there is no second stage.",
       [] {
         Pytorch torch("", 100 * kMiB);
         cache(torch, {60, 30});
         torch.alloc('a', 70 * kMiB);
         EXPECT_EQ(torch.calls(), "-30 -60 +70");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
       }},
      {"3.12.2",
       "The second stage looks for a block of max_split_size, for larger requests of theirs.",
       [] {
         Pytorch torch("max_split_size_mb:24", 150 * kMiB);
         cache(torch, {24, 30, 90});
         torch.alloc('a', 20 * kMiB);
         EXPECT_EQ(torch.calls(), "-24 +20");
         torch.alloc('b', 50 * kMiB);
         EXPECT_EQ(torch.calls(), "-90 +50");
       }},
      {"3.12.3", "One block that is large enough is released, and nothing else.",
       [] {
         Pytorch torch("max_split_size_mb:24", 190 * kMiB);
         cache(torch, {90, 94});
         torch.alloc('a', 40 * kMiB);
         EXPECT_EQ(torch.calls(), "-90 +40");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 0);
       }},
      {"3.12.3", "It is not looked for behind an expandable one that is large enough.",
       [] {
         Pytorch torch("max_split_size_mb:24", 200 * kMiB);
         cache(torch, {100});
         torch.set("max_split_size_mb:24,expandable_segments:True");
         torch.alloc('a', 60 * kMiB);
         torch.alloc('b', 20 * kMiB);
         torch.free('a');
         torch.calls();
         torch.alloc('c', 26 * kMiB);
         EXPECT_EQ(torch.calls(), "-100 unmap60 map40");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
       }},
      {"3.12.4", "A recorded block above a new limit may be a piece of a segment, and stays.",
       [] {
         Pytorch torch("max_split_size_mb:24", 200 * kMiB);
         torch.adopt(
             {.blocks = {{.size = 60 * kMiB, .state = BlockState::allocated}, {.size = 90 * kMiB}}},
             "a");
         EXPECT_EQ(torch.alloc('b', 60 * kMiB), -1);
         EXPECT_EQ(torch.calls(), "");
       }},
      {"3.12.4", "Else the largest ones, down to max_split_size, until they come to the size.",
       [] {
         Pytorch torch("max_split_size_mb:24", 490 * kMiB);
         cache(torch, {100, 120, 150, 110});
         torch.alloc('a', 300 * kMiB);
         EXPECT_EQ(torch.calls(), "-150 -120 -110 +300");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 0);
       }},
      {"3.12.4", "Exactly the size is enough, and exactly max_split_size is released.",
       [] {
         Pytorch torch("max_split_size_mb:100", 450 * kMiB);
         cache(torch, {100, 150, 200});
         torch.alloc('a', 350 * kMiB);
         EXPECT_EQ(torch.calls(), "-200 -150 +350");
         torch.free('a');
         torch.alloc('b', 400 * kMiB);
         EXPECT_EQ(torch.calls(), "-350 -100 +400");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 0);
       }},
      {"3.12.4",
       "What it released is gone even if it was not enough; then the device is not asked.",
       [] {
         Pytorch torch("max_split_size_mb:100", 300 * kMiB);
         cache(torch, {150, 90});
         torch.alloc('a', 200 * kMiB);
         EXPECT_EQ(torch.calls(), "-150 -90 +200");
         EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
       }},
      {"3.12.4", "Blocks of other streams and pools do not help.",
       [] {
         Pytorch torch("max_split_size_mb:24", 200 * kMiB);
         cache(torch, {150}, 1);
         torch.alloc('a', 100 * kMiB);
         EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
       }},
      {"3.13.1", "A release waits for the other streams first.",
       [] {
         Pytorch torch("", 100 * kMiB);
         torch.alloc('a', 60 * kMiB);
         torch.request_free('a');
         EXPECT_GE(torch.alloc('b', 80 * kMiB), 0);
         EXPECT_EQ(torch.calls(), "+60 -60 +80");
         EXPECT_EQ(torch.stat("num_sync_all_streams"), 1);
         torch.complete_free('a');  // the recording's completion comes too late to matter
         EXPECT_EQ(torch.stat("active.all.current"), 1);
       }},
      {"3.13.2", "Large segments go before small ones, by stream and size.",
       [] {
         Pytorch torch;
         cache(torch, {1});
         cache(torch, {30, 20}, 1);
         cache(torch, {40}, 0);
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "-40 -20 -30 -2");
       }},
      {"3.13", "A segment with a live block stays.",
       [] {
         Pytorch torch;
         torch.alloc('a', 3 * kMiB);
         torch.search(15 * kMiB);
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "+20");
       }},
      {"3.13", "Private pools follow when nobody holds them, small before large.",
       [] {
         Pytorch torch;
         cache(torch, {1, 20}, 0, Pytorch::kMemPool);
         cache(torch, {1, 10});
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "-10 -2");
         torch.release_pool(Pytorch::kMemPool);
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "-2 -20");
       }},
      {"3.13", "Several of them in the order of the original's hash table.",
       [] {
         SimulatedDevice device{SimulatedDeviceOptions{}};
         DeviceLog log;
         HeardDevice heard(device, log);
         const std::vector<PoolId> ids = {{0, 0}, {1, 0}, {2, 0}, {3, 0}};
         Allocator allocator(heard, {}, kNewestRelease, ids);
         for (PoolIndex pool = 1; pool < ids.size(); ++pool) {
           const Bytes size = (10 + 10 * Bytes{pool}) * kMiB;
           allocator.free(allocator.allocate({size, 0, 0, pool})->handle, {});
           allocator.release_pool(pool, PoolCache::kept);
         }
         allocator.empty_cache();
         std::vector<Bytes> released;
         for (const DeviceEvent& event : log.events()) {
           if (event.op == Op::segment_free) released.push_back(event.bytes / kMiB);
         }
         EXPECT_EQ(released, std::vector<Bytes>({30, 20, 40}));
       }},
      {"3.13", "One private pool can be emptied alone; only its blocks are waited for.",
       [] {
         Pytorch torch;
         torch.alloc('a', 1000);
         torch.alloc('b', 3 * kMiB, 0, Pytorch::kMemPool);
         torch.request_free('a');
         torch.request_free('b');
         torch.calls();
         torch.release_pool(Pytorch::kMemPool, PoolCache::returned);
         EXPECT_EQ(torch.calls(), "-20");
         EXPECT_EQ(torch.stat("active.all.current"), 1);
         EXPECT_EQ(torch.stat("num_sync_all_streams"), 1);
       }},
      {"3.13", "Plain segments of a pool go before expandable ones.",
       [] {
         Pytorch torch;
         torch.alloc('a', 30 * kMiB);
         torch.set("expandable_segments:True");
         torch.alloc('b', 15 * kMiB);
         torch.free('a');
         torch.free('b');
         torch.calls();
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "-30 unmap20");
       }},
      {"3.13", "A segment that goes is taken off all that it was counted in.",
       [] {
         Pytorch torch("max_split_size_mb:20");
         cache(torch, {18, 20});
         EXPECT_EQ(torch.stat("oversize_segments.current"), 1);
         torch.empty_cache();
         EXPECT_EQ(torch.stat("oversize_segments.current"), 0);
         EXPECT_EQ(torch.stats("segment.large_pool"), (Four{0, 2, 2, 2}));
         EXPECT_EQ(torch.stat("reserved_bytes.all.current"), 0);
         EXPECT_EQ(torch.stat("num_device_free"), 2);
       }},
      {"3.13", "empty_cache is no retry.",
       [] {
         Pytorch torch;
         torch.empty_cache();
         EXPECT_EQ(torch.stat("num_alloc_retries"), 0);
         EXPECT_EQ(torch.stat("num_sync_all_streams"), 1);
       }},
  };
}

}  // namespace memreplay::torch

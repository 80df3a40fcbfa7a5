#include "core/torch_sizes.hpp"
#include "strategy/torch/rules.hpp"

namespace memreplay::torch {
namespace {

RoundupTable all(std::uint32_t divisions) {
  RoundupTable table;
  table.fill(divisions);
  return table;
}

RoundupTable table_of(const std::string& list, const char* version) {
  SettingIssues issues;
  const Settings settings =
      read_conf("roundup_power2_divisions:" + list, parse_release(version), issues);
  EXPECT_TRUE(issues.empty());
  return settings.roundup_power2_divisions;
}

using Sizes = std::vector<std::pair<Bytes, Bytes>>;

void expect_rounded(const RoundupTable& table, const Sizes& sizes) {
  for (const auto& [size, rounded] : sizes) EXPECT_EQ(round_size(size, table), rounded) << size;
}

// Two free blocks, 150 and 300 MiB, under a limit of 100 MiB.
std::unique_ptr<Pytorch> two_oversize_blocks(std::optional<Bytes> capacity = {}) {
  auto torch = std::make_unique<Pytorch>("max_split_size_mb:100", capacity);
  torch->alloc('a', 150 * kMiB);
  torch->alloc('b', 300 * kMiB);
  torch->free('a');
  torch->free('b');
  torch->calls();
  return torch;
}

}  // namespace

Rules worked_rules() {
  return {
      {"11", "Sizes with four divisions.",
       [] {
         expect_rounded(all(4), {{1, 512}, {511, 512}, {513, 1024}, {1200, 1536}, {2048, 2048}});
         expect_rounded(all(4), {{2049, 2560}, {2561, 3072}, {5000, 5120}, {1048577, 1310720}});
         expect_rounded(all(4), {{3145729, 3670016}, {5242885, 6291456}, {7340033, 8388608}});
         expect_rounded(all(4), {{34603009, 41943040}});
       }},
      {"11", "Sizes without divisions, and with one.",
       [] {
         expect_rounded(all(0), {{1048577, 1049088}, {3145729, 3146240}, {5242885, 5243392}});
         expect_rounded(all(0), {{7340033, 7340544}, {34603009, 34603520}});
         expect_rounded(all(1), {{5000, 5120}});
       }},
      {"11", "A list of divisions before and since 2.10.",
       [] {
         const std::string list = "[256:1,512:2,1024:4,>:8]";
         EXPECT_EQ(table_of(list, "2.6"),
                   (RoundupTable{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 8, 8, 8, 8, 8, 8}));
         EXPECT_EQ(table_of(list, "2.15"),
                   (RoundupTable{1, 1, 1, 1, 1, 1, 1, 1, 1, 2, 4, 8, 8, 8, 8, 8}));
         expect_rounded(table_of(list, "2.6"), {{1363148801, 1476395008}});
         expect_rounded(table_of(list, "2.15"), {{1363148801, 1610612736},
                                                 {314572801, 314573312},
                                                 {629145601, 805306368},
                                                 {2621440001, 2684354560},
                                                 {209715201, 209715712}});
         EXPECT_EQ(table_of("[64:8,128:2,256:4,512:2,1024:4,>:1]", "2.15"),
                   (RoundupTable{8, 8, 8, 8, 8, 8, 8, 2, 4, 2, 4, 1, 1, 1, 1, 1}));
       }},
      {"11", "The segment for each size.",
       [] {
         for (const auto& [size, charged, call] :
              {std::tuple(kMiB, kMiB, "+2"), std::tuple(kMiB + 1, kMiB + 512, "+20"),
               std::tuple(9728 * kKiB, 9728 * kKiB, "+20"), std::tuple(10 * kMiB, 10 * kMiB, "+10"),
               std::tuple(11 * kMiB, 12 * kMiB, "+12"),
               std::tuple(19968 * kKiB, 20 * kMiB, "+20")}) {
           Pytorch torch;
           torch.alloc('a', size);
           EXPECT_EQ(torch.charged('a'), charged);
           EXPECT_EQ(torch.calls(), call);
         }
       }},
      {"11", "The sequence with its places and statistics.",
       [] {
         Pytorch torch;
         EXPECT_EQ(torch.alloc('x', 1000), 0);
         EXPECT_EQ(torch.alloc('y', 513), 0x400);
         EXPECT_EQ(torch.alloc('z', 3 * kMiB + 1), 0x200000);
         EXPECT_EQ(torch.alloc('q', 11 * kMiB), 0x500200);
         torch.free('x');
         EXPECT_EQ(torch.alloc('w', 600), 0);
         torch.free('y');
         torch.free('z');
         EXPECT_EQ(torch.alloc('k', 5 * kMiB), 0x1000200);
         EXPECT_EQ(torch.charged('k'), 6290944u);
         const std::pair<const char*, Four> stats[] = {
             {"allocated_bytes.all", {17826304, 17826304, 20974592, 3148288}},
             {"requested_bytes.all", {16777816, 16777816, 19925058, 3147242}},
             {"inactive_split.all", {2, 3, 4, 2}},
             {"inactive_split_bytes.all", {5242368, 19920384, 23069696, 17827328}},
             {"inactive_split_bytes.large_pool", {3146240, 17825280, 20971520, 17825280}},
             {"inactive_split_bytes.small_pool", {2096128, 2096128, 2098176, 2048}},
             {"reserved_bytes.all", {23068672, 23068672, 23068672, 0}},
             {"segment.all", {2, 2, 2, 0}},
             {"active.all", {3, 4, 6, 3}},
         };
         for (const auto& [key, four] : stats) EXPECT_EQ(torch.stats(key), four) << key;
       }},
      {"11", "The sequence in an expandable segment.",
       [] {
         Pytorch torch("expandable_segments:True");
         EXPECT_EQ(torch.alloc('a', 3 * kMiB), 0);
         EXPECT_EQ(torch.alloc('b', 30 * kMiB), at(3 * kMiB));
         EXPECT_EQ(torch.calls(), "map20 map20");
         torch.free('a');
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "");
         EXPECT_EQ(torch.stat("num_sync_all_streams"), 1);
         torch.free('b');
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "unmap40");
         EXPECT_EQ(torch.stat("num_device_free"), 1);
       }},
      {"13", "max_split_size: 50 MiB do not get a block of 150.",
       [] {
         const auto torch = two_oversize_blocks();
         torch->alloc('c', 50 * kMiB);
         EXPECT_EQ(torch->calls(), "+50");
       }},
      {"13", "max_split_size: on a full device that block makes room, without a retry.",
       [] {
         const auto torch = two_oversize_blocks(450 * kMiB);
         torch->alloc('c', 50 * kMiB);
         EXPECT_EQ(torch->calls(), "-150 +50");
         EXPECT_EQ(torch->stat("num_alloc_retries"), 0);
       }},
      {"13", "max_split_size: 140 MiB get the 150 whole.",
       [] {
         const auto torch = two_oversize_blocks();
         torch->alloc('c', 140 * kMiB);
         EXPECT_EQ(torch->charged('c'), 150 * kMiB);
         EXPECT_EQ(torch->stat("oversize_allocations.current"), 1);
         EXPECT_EQ(torch->stat("allocated_bytes.all.current"), at(150 * kMiB));
       }},
      {"13", "max_split_size: 130 and 129 MiB get neither the 150 nor the 300.",
       [] {
         for (const Bytes size : {130 * kMiB, 129 * kMiB}) {
           const auto torch = two_oversize_blocks();
           torch->alloc('c', size);
           EXPECT_EQ(torch->calls(), "+130");
           EXPECT_EQ(torch->stat("oversize_segments.current"), 3);
         }
       }},
      {"13", "max_split_size: a block below it is used whole or split like any other.",
       [] {
         Pytorch torch("max_split_size_mb:100");
         torch.search(98 * kMiB);
         torch.alloc('a', 97 * kMiB + 512 * kKiB);
         EXPECT_EQ(torch.charged('a'), 98 * kMiB);
         torch.free('a');
         torch.alloc('b', 50 * kMiB);
         EXPECT_EQ(torch.charged('b'), 50 * kMiB);
         EXPECT_EQ(torch.calls(), "+98");
       }},
      {"13", "Garbage: what is older than the average goes, by rounds.",
       [] {
         Pytorch torch("garbage_collection_threshold:0.5,per_process_memory_fraction:0.5",
                       2000 * kMiB);
         torch.alloc('a', 100 * kMiB);
         torch.alloc('b', 200 * kMiB);
         torch.alloc('c', 50 * kMiB);
         torch.alloc('l', 350 * kMiB);
         torch.alloc('k', 2 * kMiB, 1);  // a split segment of 20 MiB, to search the pool with
         torch.free('a');
         for (int i = 0; i < 6; ++i) torch.search(2 * kMiB, 1);
         torch.free('b');
         for (int i = 0; i < 2; ++i) torch.search(2 * kMiB, 1);
         torch.free('c');
         torch.calls();
         // This search makes the ages 9, 3 and 1: averages 13/3, then 2.
         torch.alloc('n', 300 * kMiB);
         EXPECT_EQ(torch.calls(), "-100 -200 +300");
       }},
      {"13", "Cross-stream: allocated drops at once, the block comes free before the next request.",
       [] {
         Pytorch torch;
         torch.alloc('x', 3 * kMiB);
         torch.request_free('x');
         EXPECT_EQ(torch.blocks(), "3? [17]");
         EXPECT_EQ(torch.stat("allocation.all.current"), 0);
         EXPECT_EQ(torch.stat("active.all.current"), 1);
         torch.complete_free('x');
         EXPECT_EQ(torch.alloc('y', 3 * kMiB), 0);
       }},
  };
}

}  // namespace memreplay::torch

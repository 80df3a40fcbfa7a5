#include "strategy/torch/rules.hpp"

namespace memreplay::torch {
namespace {

const std::string kOn = "expandable_segments:True";

// Equal free blocks in an older plain segment and in a younger reservation below it.
bool prefers_older_plain(const char* version) {
  Pytorch torch("", {}, version, first_fit());
  torch.alloc('x', 1200 * kGiB);
  const std::int64_t plain = torch.alloc('p', 30 * kMiB);
  torch.free('x');
  torch.empty_cache();
  torch.set(kOn);
  EXPECT_EQ(torch.alloc('e', 30 * kMiB), 0);
  torch.alloc('f', 10 * kMiB);
  torch.free('p');
  torch.free('e');
  return torch.alloc('q', 30 * kMiB) == plain;
}

// As above, with the older reservation above the younger plain segment.
bool prefers_older_expandable(const char* version) {
  Pytorch torch("", {}, version, first_fit());
  torch.alloc('x', 30 * kMiB);
  torch.set(kOn);
  const std::int64_t expandable = torch.alloc('e', 30 * kMiB);
  torch.alloc('f', 10 * kMiB);
  torch.free('x');
  torch.empty_cache();
  torch.set("");
  EXPECT_EQ(torch.alloc('p', 30 * kMiB), 0);
  torch.set(kOn);
  torch.free('p');
  torch.free('e');
  return torch.alloc('q', 30 * kMiB) == expandable;
}

}  // namespace

Rules corrected_rules() {
  return {
      {"15.1", "Since 2.13 segments and reservations share one numbering.",
       [] {
         EXPECT_TRUE(prefers_older_plain("2.13"));
         EXPECT_TRUE(prefers_older_expandable("2.13"));
         EXPECT_FALSE(prefers_older_plain("2.11"));
         EXPECT_FALSE(prefers_older_expandable("2.11"));
       }},
      {"15.1", "Equal segments are released in the same order: by address up to 2.11, then by age.",
       [] {
         for (const char* version : {"2.11", "2.12", "2.13"}) {
           Pytorch torch("", {}, version, first_fit());
           torch.alloc('x', 22 * kMiB);
           torch.alloc('a', 20 * kMiB);
           torch.free('x');
           torch.empty_cache();
           torch.alloc('b', 20 * kMiB);
           torch.free('a');
           torch.free('b');
           torch.empty_cache();
           const bool by_address = std::string(version) == "2.11";
           const std::int64_t older = at(22 * kMiB);
           EXPECT_EQ(torch.places_given_back(), by_address
                                                    ? (std::vector<std::int64_t>{0, 0, older})
                                                    : (std::vector<std::int64_t>{0, older, 0}));
         }
       }},
      {"15.1", "Unmapped ranges are always searched from the lowest address.",
       [] {
         // Reservations of 80 MiB; the older one stands above the younger one.
         Pytorch torch("", {}, "", first_fit());
         torch.alloc('x', 100 * kMiB);
         torch.set(kOn + ",expandable_segments_reserve:0.078125G");
         torch.alloc('a', 35 * kMiB);
         torch.free('x');
         torch.empty_cache();
         EXPECT_EQ(torch.alloc('b', 50 * kMiB), 0);
         EXPECT_EQ(torch.alloc('c', 25 * kMiB), at(50 * kMiB));
       }},
      {"15.2", "throw_on_cudamalloc_oom rejects what would pass the device's size, not its equal.",
       [] {
         Pytorch torch("throw_on_cudamalloc_oom:True", 100 * kMiB);
         torch.alloc('a', 80 * kMiB);
         EXPECT_GE(torch.alloc('b', 20 * kMiB), 0);
         EXPECT_EQ(torch.stat("num_oom_rejections"), 0);
         EXPECT_EQ(torch.alloc('c', 1000), -1);
         EXPECT_EQ(torch.stat("num_oom_rejections"), 1);
       }},
      {"15.2", "The segment is what counts, not the request.",
       [] {
         Pytorch torch("throw_on_cudamalloc_oom:True", 1000 * kMiB);
         torch.alloc('a', 990 * kMiB);
         EXPECT_EQ(torch.alloc('b', 9 * kMiB), -1);
         EXPECT_EQ(torch.stat("num_oom_rejections"), 1);
       }},
      {"15.2", "A rejection releases nothing and counts nothing else.",
       [] {
         Pytorch torch("throw_on_cudamalloc_oom:True", 100 * kMiB);
         torch.search(60 * kMiB);
         EXPECT_EQ(torch.alloc('a', 80 * kMiB), -1);
         EXPECT_EQ(torch.calls(), "+60");
         EXPECT_EQ(torch.stat("num_ooms"), 0);
         EXPECT_EQ(torch.stat("num_alloc_retries"), 0);
         EXPECT_EQ(torch.stat("num_sync_all_streams"), 0);
       }},
      {"15.2", "Memory that others hold does not cause one.",
       [] {
         Pytorch torch("throw_on_cudamalloc_oom:True", 100 * kMiB, "", {.reserve = 50 * kMiB});
         EXPECT_EQ(torch.alloc('a', 60 * kMiB), -1);
         EXPECT_EQ(torch.stat("num_oom_rejections"), 0);
         EXPECT_EQ(torch.stat("num_ooms"), 1);
       }},
      {"15.2", "Under a fraction below 1 the limit is tested first, and the usual stages follow.",
       [] {
         Pytorch torch("throw_on_cudamalloc_oom:True,per_process_memory_fraction:0.5", 200 * kMiB);
         torch.search(60 * kMiB);
         EXPECT_GE(torch.alloc('a', 80 * kMiB), 0);
         EXPECT_EQ(torch.stat("num_oom_rejections"), 0);
         EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
       }},
      {"15.3", "A fraction of 0 refuses everything.",
       [] {
         Pytorch torch("per_process_memory_fraction:0", 100 * kMiB);
         EXPECT_EQ(torch.alloc('a', 1), -1);
         EXPECT_EQ(torch.stat("num_ooms"), 1);
       }},
      {"15.3", "A reserve that PyTorch cannot read is ignored.",
       [] {
         SettingIssues issues;
         EXPECT_EQ(read_conf(kOn + ",expandable_segments_reserve:8GB", kNewestRelease, issues),
                   read_conf(kOn, kNewestRelease, issues));
       }},
      {"15.5", "More than an exbibyte is refused before all else.",
       [] {
         Pytorch torch;
         EXPECT_EQ(torch.alloc('a', Bytes{1} << 60), -1);
         EXPECT_EQ(torch.stat("num_ooms"), 0);
         EXPECT_EQ(torch.stat("num_alloc_retries"), 0);
       }},
      {"15.5", "An empty_cache that releases nothing waits for the streams all the same.",
       [] {
         Pytorch torch;
         torch.alloc('a', 1000);
         torch.empty_cache();
         EXPECT_EQ(torch.calls(), "+2");
         EXPECT_EQ(torch.stat("num_sync_all_streams"), 1);
       }},
  };
}

}  // namespace memreplay::torch

#include "strategy/torch/allocator.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>

#include "device/simulated_device.hpp"

namespace memreplay::torch {
namespace {

// A PyTorch allocator on a simulated device; blocks have names, addresses count from the first.
class Pytorch {
 public:
  explicit Pytorch(const char* conf = "", std::optional<Bytes> capacity = {},
                   const char* version = "")
      : device_({.capacity = capacity}) {
    std::vector<SettingIssue> issues;
    const Release release = parse_release(version);
    allocator_ = std::make_unique<Allocator>(device_, read_conf(conf, release, issues), release,
                                             std::vector<PoolId>(1));
    EXPECT_TRUE(issues.empty());
  }

  /// The place of the block from 2^44 on; -1 when it was refused.
  std::int64_t alloc(char name, Bytes size, StreamIndex stream = 0) {
    const auto placement = allocator_->allocate({size, 0, stream, 0});
    if (!placement) return -1;
    blocks_[name] = *placement;
    return static_cast<std::int64_t>(placement->address - (Address{1} << 44));
  }
  void free(char name) { allocator_->free(blocks_.at(name).handle); }
  void request_free(char name) { allocator_->request_free(blocks_.at(name).handle); }
  void complete_free(char name) { allocator_->complete_free(blocks_.at(name).handle); }
  void empty_cache() { allocator_->empty_cache(); }
  Bytes charged(char name) const { return blocks_.at(name).size; }
  std::int64_t stat(const std::string& key) const {
    for (const auto& [name, value] : allocator_->counters()) {
      if (name == key) return value;
    }
    ADD_FAILURE() << "no counter " << key;
    return 0;
  }
  std::array<std::int64_t, 4> stats(const std::string& key) const {
    return {stat(key + ".current"), stat(key + ".peak"), stat(key + ".allocated"),
            stat(key + ".freed")};
  }
  Bytes held() const { return device_.usage().held; }

 private:
  SimulatedDevice device_;
  std::unique_ptr<Allocator> allocator_;
  std::map<char, Placement> blocks_;
};

using Four = std::array<std::int64_t, 4>;

TEST(TorchAllocator, SmallAndLargeRequestsComeFromSegmentsOfTheirOwn) {
  Pytorch torch;
  EXPECT_EQ(torch.alloc('a', kMiB), 0);
  EXPECT_EQ(torch.held(), 2 * kMiB);
  EXPECT_EQ(torch.alloc('b', kMiB + 1), 0x200000);
  EXPECT_EQ(torch.held(), 22 * kMiB);
  torch.alloc('c', 10 * kMiB);
  EXPECT_EQ(torch.held(), 22 * kMiB);  // the rest of the 20 MiB segment still holds it
  torch.alloc('d', 10 * kMiB);
  EXPECT_EQ(torch.held(), 32 * kMiB);
}

TEST(TorchAllocator, ALargeBlockIsSplitOnlyWhenMoreThanOneMebibyteIsLeft) {
  Pytorch torch;
  torch.alloc('a', 11 * kMiB);  // segment of 12 MiB: the rest is exactly 1 MiB
  EXPECT_EQ(torch.charged('a'), 12 * kMiB);
  torch.alloc('b', 19 * kMiB + 512 * kKiB);
  EXPECT_EQ(torch.charged('b'), 20 * kMiB);
  torch.alloc('c', 9 * kMiB + 512 * kKiB);
  EXPECT_EQ(torch.charged('c'), 9 * kMiB + 512 * kKiB);
}

TEST(TorchAllocator, GivesThePlacesAndStatisticsOfTheWorkedSequence) {
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
  EXPECT_EQ(torch.stats("allocated_bytes.all"), (Four{17826304, 17826304, 20974592, 3148288}));
  EXPECT_EQ(torch.stats("requested_bytes.all"), (Four{16777816, 16777816, 19925058, 3147242}));
  EXPECT_EQ(torch.stats("inactive_split.all"), (Four{2, 3, 4, 2}));
  EXPECT_EQ(torch.stats("inactive_split_bytes.all"), (Four{5242368, 19920384, 23069696, 17827328}));
  EXPECT_EQ(torch.stats("inactive_split_bytes.large_pool"),
            (Four{3146240, 17825280, 20971520, 17825280}));
  EXPECT_EQ(torch.stats("inactive_split_bytes.small_pool"),
            (Four{2096128, 2096128, 2098176, 2048}));
  EXPECT_EQ(torch.stats("reserved_bytes.all"), (Four{23068672, 23068672, 23068672, 0}));
  EXPECT_EQ(torch.stats("segment.all"), (Four{2, 2, 2, 0}));
  EXPECT_EQ(torch.stats("active.all"), (Four{3, 4, 6, 3}));
}

TEST(TorchAllocator, ExpandableSegmentsGrowByGranulesAndShrinkByWholeOnes) {
  Pytorch torch("expandable_segments:True");
  EXPECT_EQ(torch.alloc('a', 3 * kMiB), 0);
  EXPECT_EQ(torch.held(), 20 * kMiB);
  EXPECT_EQ(torch.alloc('b', 30 * kMiB), static_cast<std::int64_t>(3 * kMiB));
  EXPECT_EQ(torch.held(), 40 * kMiB);
  EXPECT_EQ(torch.stat("num_device_alloc"), 2);
  EXPECT_EQ(torch.stat("segment.all.current"), 0);
  EXPECT_EQ(torch.stat("inactive_split.all.current"), 0);
  torch.free('a');
  torch.empty_cache();
  EXPECT_EQ(torch.held(), 40 * kMiB);
  EXPECT_EQ(torch.stat("num_device_free"), 0);
  EXPECT_EQ(torch.stat("num_sync_all_streams"), 1);
  torch.free('b');
  torch.empty_cache();
  EXPECT_EQ(torch.held(), 0u);
  EXPECT_EQ(torch.stat("num_device_free"), 1);
}

TEST(TorchAllocator, BlocksAboveTheSplitLimitAreKeptWhole) {
  Pytorch torch("max_split_size_mb:100");
  torch.alloc('a', 150 * kMiB);
  torch.alloc('b', 300 * kMiB);
  torch.free('a');
  torch.free('b');
  torch.alloc('c', 50 * kMiB);  // best fit is 150, which is not for small requests
  EXPECT_EQ(torch.held(), 500 * kMiB);
  torch.alloc('d', 140 * kMiB);  // 150 is within 20 MiB of it: taken whole
  EXPECT_EQ(torch.charged('d'), 150 * kMiB);
  EXPECT_EQ(torch.stat("oversize_allocations.current"), 1);
  torch.free('d');
  torch.alloc('e', 130 * kMiB);  // 150 is exactly 20 MiB larger: too much
  EXPECT_EQ(torch.held(), 630 * kMiB);
  EXPECT_EQ(torch.stat("oversize_segments.current"), 3);
}

TEST(TorchAllocator, UnderASplitLimitOneOversizeBlockMakesRoomWithoutARetry) {
  Pytorch torch("max_split_size_mb:100", 450 * kMiB);
  torch.alloc('a', 150 * kMiB);
  torch.alloc('b', 300 * kMiB);
  torch.free('a');
  torch.free('b');
  EXPECT_GE(torch.alloc('c', 50 * kMiB), 0);
  EXPECT_EQ(torch.held(), 350 * kMiB);
  EXPECT_EQ(torch.stat("num_alloc_retries"), 0);
}

TEST(TorchAllocator, GarbageCollectionFreesWhatIsOlderThanTheAverageByRounds) {
  Pytorch torch("garbage_collection_threshold:0.5,per_process_memory_fraction:0.5", 2000 * kMiB);
  torch.alloc('a', 100 * kMiB);
  torch.alloc('b', 200 * kMiB);
  torch.alloc('c', 50 * kMiB);
  torch.alloc('l', 350 * kMiB);
  torch.alloc('k', 2 * kMiB, 1);  // a split segment of 20 MiB, to search the pool with
  const auto search = [&](int times) {
    for (int i = 0; i < times; ++i) {
      torch.alloc('m', 2 * kMiB, 1);
      torch.free('m');
    }
  };
  torch.free('a');
  search(6);
  torch.free('b');
  search(2);
  torch.free('c');
  // This search makes the ages 9, 3 and 1. Round one frees 'a' (average 13/3), round two 'b' (2).
  torch.alloc('n', 300 * kMiB);
  EXPECT_EQ(torch.stat("num_device_free"), 2);
  EXPECT_EQ(torch.held(), 720 * kMiB);
  EXPECT_EQ(torch.stat("num_alloc_retries"), 0);
}

TEST(TorchAllocator, ARefusedRequestReleasesEverythingAndTriesOnceMore) {
  Pytorch torch("", 100 * kMiB);
  torch.alloc('a', 60 * kMiB);
  torch.free('a');
  EXPECT_GE(torch.alloc('b', 80 * kMiB), 0);
  EXPECT_EQ(torch.stat("num_alloc_retries"), 1);
  EXPECT_EQ(torch.stat("num_ooms"), 0);
  EXPECT_EQ(torch.alloc('c', 40 * kMiB), -1);
  EXPECT_EQ(torch.stat("num_alloc_retries"), 2);
  EXPECT_EQ(torch.stat("num_ooms"), 1);
}

TEST(TorchAllocator, ThePoolIsNotSearchedAgainAfterTheSynchronisation) {
  Pytorch torch("", 100 * kMiB);
  torch.alloc('a', 50 * kMiB);  // 'a' and 'b' share nothing
  torch.alloc('b', 50 * kMiB);
  torch.request_free('b');
  // The synchronisation completes 'b' and its segment is returned; 'a' stays.
  EXPECT_GE(torch.alloc('c', 40 * kMiB), 0);
  EXPECT_EQ(torch.stat("num_device_free"), 1);
  torch.complete_free('b');  // the recording's completion comes too late to matter
  EXPECT_EQ(torch.stat("active.all.current"), 2);
}

TEST(TorchAllocator, APendingBlockIsNotReusedBeforeItCompletes) {
  Pytorch torch;
  torch.alloc('a', 600);
  torch.request_free('a');
  EXPECT_EQ(torch.stat("allocated_bytes.all.current"), 0);
  EXPECT_EQ(torch.stat("active_bytes.all.current"), 1024);
  EXPECT_EQ(torch.alloc('b', 600), 0x400);
  torch.complete_free('a');
  EXPECT_EQ(torch.alloc('c', 600), 0);
}

TEST(TorchAllocator, StreamsDoNotShareFreeBlocks) {
  Pytorch torch;
  torch.alloc('a', 600);
  torch.free('a');
  EXPECT_EQ(torch.alloc('b', 600, 1), 0x200000);
  EXPECT_EQ(torch.alloc('c', 600, 0), 0);
}

TEST(TorchAllocator, AmongEqualBlocksTheReleaseDecides) {
  // Two free segments of 2 MiB, the younger one at the lower address.
  const auto second_choice = [](const char* version) {
    SimulatedDevice device({.policy = AddressPolicy::first_fit});
    const Release release = parse_release(version);
    Allocator allocator(device, {}, release, std::vector<PoolId>(1));
    const auto take = [&] { return *allocator.allocate({kMiB, 0, 0, 0}); };
    const Placement low = take();
    const Placement low_rest = take();
    const Placement high = take();
    const Placement high_rest = take();
    allocator.free(low.handle);
    allocator.free(low_rest.handle);
    allocator.empty_cache();
    const Placement young = take();  // the lowest hole: below `high`, but younger
    EXPECT_LT(young.address, high.address);
    allocator.free(take().handle);
    allocator.free(high_rest.handle);
    return take().address < high.address;
  };
  EXPECT_TRUE(second_choice("2.11.0"));
  EXPECT_FALSE(second_choice("2.15.0"));
}

TEST(TorchAllocator, ThrowOnOomRejectsBeforeAnythingIsReleased) {
  Pytorch torch("throw_on_cudamalloc_oom:True", 100 * kMiB);
  torch.alloc('a', 60 * kMiB);
  torch.free('a');
  EXPECT_EQ(torch.alloc('b', 80 * kMiB), -1);
  EXPECT_EQ(torch.stat("num_oom_rejections"), 1);
  EXPECT_EQ(torch.stat("num_ooms"), 0);
  EXPECT_EQ(torch.held(), 60 * kMiB);
}

TEST(TorchAllocator, ACopyGoesOnAsTheOriginalWould) {
  SimulatedDevice device;
  Allocator original(device, {}, kNewestRelease, std::vector<PoolId>(1));
  const Placement kept = *original.allocate({5000, 0, 0, 0});
  original.free(original.allocate({3 * kMiB, 0, 0, 0})->handle);
  const auto device_copy = device.clone();
  const auto copy = original.clone(*device_copy);
  EXPECT_EQ(copy->allocate({kMiB, 0, 0, 0})->address, original.allocate({kMiB, 0, 0, 0})->address);
  copy->free(kept.handle);
  EXPECT_NE(copy->counters(), original.counters());
}

TEST(TorchAllocator, MoreThanAnExbibyteIsRefusedWithoutATrace) {
  Pytorch torch;
  EXPECT_EQ(torch.alloc('a', Bytes{1} << 60), -1);
  EXPECT_EQ(torch.stat("num_ooms"), 0);
}

}  // namespace
}  // namespace memreplay::torch

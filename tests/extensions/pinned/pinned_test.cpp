#include <gtest/gtest.h>

#include <algorithm>
#include <bit>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/counter_of.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_device.hpp"

namespace memreplay {
namespace {

TEST(Pinned, ABlockIsAPowerOfTwoOfItsOwn) {
  MemoryPicture m("pinned");
  m.alloc('A', 3).alloc('B', 1).alloc('C', 5);
  EXPECT_EQ(m.picture(), "AAAA|B|CCCCCCCC");
}

TEST(Pinned, OnlyABlockOfTheSameClassIsUsedAgain) {
  MemoryPicture m("pinned");
  m.alloc('A', 8).free('A').alloc('B', 3).alloc('C', 6);
  EXPECT_EQ(m.picture(), "CCCCCCCC|BBBB");
}

TEST(Pinned, WhatWasFreedLastServesFirst) {
  MemoryPicture m("pinned");
  m.alloc('A', 4).alloc('B', 4).free('A').free('B').alloc('C', 4);
  EXPECT_EQ(m.picture(), "....|CCCC");
}

TEST(Pinned, EmptyCacheReturnsWhatIsFree) {
  MemoryPicture m("pinned");
  m.alloc('A', 4).alloc('B', 4).free('A').empty_cache();
  EXPECT_EQ(m.picture(), "BBBB");
  EXPECT_EQ(m.device().held, 4u);
}

TEST(Pinned, AboveTheRoundingThresholdSizesStay) {
  MemoryPicture m("pinned:pinned_max_round_threshold_mb=4", std::nullopt, kMiB);
  m.alloc('A', 3).alloc('B', 5);
  EXPECT_EQ(m.picture(), "AAAA|BBBBB");
}

TEST(Pinned, OfAClassTheLastFreedThatIsLargeEnoughServes) {
  MemoryPicture m("pinned:pinned_max_round_threshold_mb=4", std::nullopt, kMiB);
  m.alloc('A', 7).alloc('B', 6).alloc('C', 5).free('A').free('B').free('C').alloc('D', 6);
  EXPECT_EQ(m.picture(), ".......|DDDDDD|.....");
  m.alloc('E', 8);
  EXPECT_EQ(m.picture(), ".......|DDDDDD|.....|EEEEEEEE");
}

TEST(Pinned, BlocksAboveTheCachedSizeGoBackAtOnce) {
  MemoryPicture m("pinned:pinned_max_cached_size_mb=4", std::nullopt, kMiB);
  m.alloc('A', 5).alloc('B', 3);
  EXPECT_EQ(m.picture(), "AAAAA|BBBB");
  m.free('A').free('B');
  EXPECT_EQ(m.picture(), "....");
}

TEST(Pinned, TheReserveSegmentServesInStepsWhatStillFits) {
  MemoryPicture m("pinned:pinned_reserve_segment_size_mb=1", std::nullopt, 64 * kKiB);
  m.alloc('A', 4).alloc('B', 16).alloc('C', 3);
  EXPECT_EQ(m.picture(), "AAAACCCC........|BBBBBBBBBBBBBBBB");
  EXPECT_EQ(m.device().allocs, 2u);
}

TEST(Pinned, SpaceOfTheReserveSegmentIsLostByEmptyCache) {
  MemoryPicture m("pinned:pinned_reserve_segment_size_mb=1", std::nullopt, 64 * kKiB);
  m.alloc('A', 8).free('A').alloc('B', 8).free('B').empty_cache().alloc('C', 8).alloc('D', 8);
  EXPECT_EQ(m.picture(), "........CCCCCCCC|DDDDDDDD");
}

TEST(Pinned, ASmallBlockTakesFourKibibytesOfTheSegment) {
  SimulatedDevice device;
  const auto strategy =
      make_strategy(parse_strategy("pinned:pinned_reserve_segment_size_mb=1"), {.device = device});
  const Address first = strategy->allocate({.size = 1})->address;
  EXPECT_EQ(strategy->allocate({.size = 5000})->address, first + 4096);
  EXPECT_EQ(strategy->allocate({.size = 1})->address, first + 3 * 4096);
}

TEST(Pinned, AStreamThatIsNotDoneHoldsUpTheBlocksBehind) {
  SimulatedDevice device;
  const auto strategy = make_strategy(parse_strategy("pinned"), {.device = device});
  const auto a = strategy->allocate({.size = 64});
  const auto b = strategy->allocate({.size = 64});
  strategy->request_free(a->handle);
  strategy->request_free(b->handle);
  strategy->complete_free(b->handle);
  EXPECT_NE(strategy->allocate({.size = 64})->address, b->address);
  EXPECT_EQ(counter_of(*strategy, "active_requests.current"), 3);
  strategy->complete_free(a->handle);
  EXPECT_EQ(strategy->allocate({.size = 64})->address, b->address);
  EXPECT_EQ(strategy->allocate({.size = 64})->address, a->address);
}

TEST(Pinned, StatisticsHaveTheNamesAndRulesOfPyTorch) {
  MemoryPicture m("pinned");
  m.alloc('A', 100).alloc('B', 200).free('A').alloc('C', 70).free('B').free('C').empty_cache();
  const auto value = [&](std::string_view name) { return m.counter(name); };
  EXPECT_EQ(value("allocations.peak"), 2);
  EXPECT_EQ(value("allocated_bytes.peak"), 128 + 256);
  EXPECT_EQ(value("allocated_bytes.current"), 0);
  EXPECT_EQ(value("active_requests.allocated"), 3);
  EXPECT_EQ(value("active_bytes.allocated"), 128 + 256 + 128);
  EXPECT_EQ(value("active_bytes.freed"), 128 + 256 + 128);
  EXPECT_EQ(value("num_host_alloc"), 2);
  EXPECT_EQ(value("num_host_free"), 2);
  EXPECT_EQ(value("bucket_allocation.7"), 2);
  EXPECT_EQ(value("bucket_allocation.8"), 1);
}

TEST(Pinned, ThePeakOfActiveBytesIsTheSumOfThePeaksOfClasses) {
  MemoryPicture m("pinned");
  m.alloc('A', 8).free('A').alloc('B', 16).free('B');
  EXPECT_EQ(m.counter("active_bytes.peak"), 24);
}

TEST(Pinned, OptionsThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("pinned:pinned_max_cached_size_mb=4MiB"), UsageError);
  EXPECT_THROW(MemoryPicture("pinned:pinned_reserve_segment_size_mb=-1"), UsageError);
}

struct Limits {
  Bytes segment = 0;
  Bytes round_up_to = UINT64_MAX;
  Bytes cache_up_to = UINT64_MAX;
};

/// One list of free blocks of all classes, in the order in which they were freed.
class SlowPinned final : public SlowModel {
 public:
  SlowPinned(const Limits& limits, std::optional<Bytes> capacity)
      : limits_(limits), device_{.capacity = capacity} {}

  std::optional<Bytes> allocate(const Request& request) override {
    Bytes size = request.size;
    if (size <= limits_.round_up_to && size <= limits_.cache_up_to) size = power(size);
    for (std::size_t i = free_.size(); i-- > 0;) {
      const Block block = free_[i];
      if (power(block.size) != power(size) || block.size < size) continue;
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
      live_.push_back(block);
      return block.address;
    }
    if (limits_.segment != 0 && !asked_) {
      asked_ = true;
      if (const auto at = device_.obtain(limits_.segment)) {
        top_ = *at;
        end_ = *at + limits_.segment;
      }
    }
    Block block{0, size, false};
    if (top_ + round_up(size, 4096) <= end_) {
      block = {top_, size, true};
      top_ += round_up(size, 4096);
    } else {
      const auto at = device_.obtain(size);
      if (!at) return std::nullopt;
      block.address = *at;
    }
    live_.push_back(block);
    return block.address;
  }

  void free(Bytes address, const FreeOrigin&) override {
    const auto at = std::find_if(live_.begin(), live_.end(),
                                 [&](const Block& b) { return b.address == address; });
    const Block block = *at;
    live_.erase(at);
    if (block.size <= limits_.cache_up_to) return free_.push_back(block);
    if (!block.of_segment) device_.give_back(block.size);
  }

  void empty_cache() override {
    for (const Block& block : free_) {
      if (!block.of_segment) device_.give_back(block.size);
    }
    free_.clear();
  }

  std::optional<Bytes> reserved() const override { return device_.held; }

 private:
  struct Block {
    Bytes address;
    Bytes size;
    bool of_segment;
  };
  static Bytes power(Bytes size) {
    Bytes p = 1;
    while (p < size) p *= 2;
    return p;
  }

  Limits limits_;
  SlowDevice device_;
  bool asked_ = false;
  Bytes top_ = 0;
  Bytes end_ = 0;
  std::vector<Block> free_;
  std::vector<Block> live_;
};

TEST(Pinned, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<Limits>> cases = {
      {"pinned", {}, {}},
      {"pinned", {}, 100 * kMiB},
      {"pinned:pinned_max_round_threshold_mb=2", {0, 2 * kMiB}, 150 * kMiB},
      {"pinned:pinned_max_cached_size_mb=3", {0, UINT64_MAX, 3 * kMiB}, {}},
      {"pinned:pinned_reserve_segment_size_mb=32,pinned_max_cached_size_mb=5",
       {32 * kMiB, UINT64_MAX, 5 * kMiB},
       120 * kMiB},
  };
  expect_agreement<SlowPinned>(cases, 7, {.largest = 16.0 * kMiB, .empty_caches = true});
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include <algorithm>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_device.hpp"

namespace memreplay {
namespace {

TEST(PinnedBuddy, TheFirstRequestTakesAllWarmBlocks) {
  MemoryPicture m("pinned-buddy:block=8,count=2,threshold=1");
  m.alloc('A', 1);
  EXPECT_EQ(m.picture(), "........|........|A");
}

TEST(PinnedBuddy, LargeRequestsHalveAWarmBlock) {
  MemoryPicture m("pinned-buddy:block=8,count=1,threshold=1");
  m.alloc('A', 2).alloc('B', 3);
  EXPECT_EQ(m.picture(), "AA..BBBB");
  m.alloc('C', 2);
  EXPECT_EQ(m.picture(), "AACCBBBB");
}

TEST(PinnedBuddy, OfEqualPartsTheLastFreedServes) {
  MemoryPicture m("pinned-buddy:block=4,count=2,threshold=1");
  m.alloc('A', 4).alloc('B', 4).free('B').free('A').alloc('C', 4);
  EXPECT_EQ(m.picture(), "....|CCCC");
}

TEST(PinnedBuddy, BuddiesJoinWhenBothAreFree) {
  MemoryPicture m("pinned-buddy:block=8,count=1,threshold=1");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 4).free('A').free('C').free('B').alloc('D', 8);
  EXPECT_EQ(m.picture(), "DDDDDDDD");
}

TEST(PinnedBuddy, RequestsUpToTheThresholdGetTheirOwnExactBlocks) {
  MemoryPicture m("pinned-buddy:block=8,count=1,threshold=4");
  m.alloc('A', 3).free('A').alloc('B', 1).alloc('C', 4);
  EXPECT_EQ(m.picture(), "........|CCCC|B");
}

TEST(PinnedBuddy, WhatFitsInNoWarmBlockComesFromTheHost) {
  MemoryPicture m("pinned-buddy:block=8,count=1,threshold=1");
  m.alloc('A', 6).alloc('B', 6).alloc('C', 9);
  EXPECT_EQ(m.picture(), "AAAAAAAA|BBBBBBBB|CCCCCCCCCCCCCCCC");
}

TEST(PinnedBuddy, BlocksOfTheHostAreNeverCutNorJoined) {
  MemoryPicture m("pinned-buddy:block=2,count=1,threshold=1");
  m.alloc('A', 4).alloc('B', 4).free('A').free('B').alloc('C', 2).alloc('D', 2).alloc('E', 8);
  EXPECT_EQ(m.picture(), "CC|....|....|DD|EEEEEEEE");
}

TEST(PinnedBuddy, BuddiesAreFoundByTheirPlaceInTheBlockNotByAddress) {
  // The block begins at an odd multiple of 2 MiB.
  MemoryPicture m("pinned-buddy:block=8MiB,count=2,threshold=0", std::nullopt, 2 * kMiB);
  m.alloc('A', 16).alloc('B', 2).alloc('C', 2).free('B').free('C').alloc('D', 4);
  EXPECT_EQ(m.strategy().memory_state().segments.size(), 3u);
  EXPECT_EQ(m.picture(), "....|DDDD|AAAAAAAAAAAAAAAA");

  SimulatedDevice device;
  ASSERT_TRUE(device.obtain(2 * kMiB));
  const auto strategy = make_strategy(parse_strategy("pinned-buddy:block=8MiB,count=1,threshold=0"),
                                      {.device = device});
  const auto low = strategy->allocate({.size = 4 * kMiB});
  const auto high = strategy->allocate({.size = 4 * kMiB});
  EXPECT_NE(low->address % (8 * kMiB), 0u);
  strategy->free(low->handle, {});
  strategy->free(high->handle, {});
  EXPECT_EQ(strategy->free_space().largest, 8 * kMiB);
}

TEST(PinnedBuddy, EmptyCacheReturnsIdleWarmBlocksAndKeepsThoseInUse) {
  MemoryPicture m("pinned-buddy:block=8,count=3,threshold=1");
  m.alloc('A', 8).alloc('B', 2).alloc('C', 1).free('A').free('C').empty_cache();
  EXPECT_EQ(m.picture(), "BB......");
  EXPECT_EQ(m.device().held, 8u);
}

TEST(PinnedBuddy, ReturnedWarmBlocksAreTakenAgainWhenTheTaskGoesOn) {
  MemoryPicture m("pinned-buddy:block=8,count=2,threshold=1");
  m.alloc('A', 2).free('A').empty_cache();
  EXPECT_EQ(m.picture(), "");
  m.alloc('B', 1);
  EXPECT_EQ(m.picture(), "B");
  m.alloc('C', 2).alloc('D', 8);
  EXPECT_EQ(m.picture(), "B|CC......|DDDDDDDD");
  m.alloc('E', 8);  // all are back: one more is not a warm block
  EXPECT_EQ(m.picture(), "B|CC......|DDDDDDDD|EEEEEEEE");
  m.free('E').alloc('F', 2).alloc('G', 4).alloc('H', 2);
  EXPECT_EQ(m.picture(), "B|CCFFGGGG|DDDDDDDD|........|HH");
}

TEST(PinnedBuddy, AWarmBlockThatTheHostRefusesIsDoneWithout) {
  MemoryPicture m("pinned-buddy:block=8,count=3,threshold=1", 18);
  m.alloc('A', 8).alloc('B', 8).alloc('C', 2);
  EXPECT_EQ(m.picture(), "BBBBBBBB|AAAAAAAA|CC");
}

TEST(PinnedBuddy, AnAlignmentAboveTheSizeTakesALargerPart) {
  MemoryPicture m("pinned-buddy:block=8,count=1,threshold=0");
  m.alloc('A', 1).alloc('B', 1, 4);
  EXPECT_EQ(m.picture(), "A...BBBB");
}

TEST(PinnedBuddy, BlocksThatStreamsUsedJoinWhenTheyAreOver) {
  SimulatedDevice device;
  const auto strategy = make_strategy(parse_strategy("pinned-buddy:block=8MiB,count=1,threshold=0"),
                                      {.device = device});
  const auto a = strategy->allocate({.size = 4 * kMiB});
  const auto b = strategy->allocate({.size = 4 * kMiB});
  strategy->request_free(a->handle);
  strategy->free(b->handle, {});
  EXPECT_EQ(strategy->free_space().largest, 4 * kMiB);
  strategy->complete_free(a->handle);
  EXPECT_EQ(strategy->allocate({.size = 8 * kMiB})->address, a->address);
  EXPECT_EQ(device.usage().allocs, 1u);
}

TEST(PinnedBuddy, OptionsThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("pinned-buddy:block=3MiB"), UsageError);
  EXPECT_THROW(MemoryPicture("pinned-buddy:count=many"), UsageError);
}

struct Warmth {
  Bytes block;
  int count;
  Bytes threshold;
};

/// Free parts and blocks in the order in which they became free, searched from the last.
class SlowPinnedBuddy final : public SlowModel {
 public:
  SlowPinnedBuddy(const Warmth& warmth, std::optional<Bytes> capacity)
      : warmth_(warmth), device_{.capacity = capacity} {}

  std::optional<Bytes> allocate(const Request& request) override {
    if (!started_) {
      started_ = true;
      for (int i = 0; i < warmth_.count; ++i) take_warm_block();
    }
    Bytes size = 1;
    while (size < request.size) size *= 2;
    if (const int own = last(false, size); own >= 0) return use(own);
    if (size > warmth_.threshold) {
      Bytes needed = std::max(size, request.alignment);
      int part = smallest_warm(needed);
      if (part < 0 && away_ > 0 && needed <= warmth_.block && take_warm_block()) {
        --away_;
        part = smallest_warm(needed);
      }
      if (part >= 0) {
        Block block = free_[part];
        free_.erase(free_.begin() + part);
        for (; block.size > needed; block.size /= 2) {
          free_.push_back({block.address + block.size / 2, block.size / 2, block.base});
        }
        live_.push_back(block);
        return block.address;
      }
    }
    const auto at = device_.obtain(size);
    if (at) live_.push_back({*at, size, kOwn});
    return at;
  }

  void free(Bytes address, const FreeOrigin&) override {
    const auto at = std::find_if(live_.begin(), live_.end(),
                                 [&](const Block& b) { return b.address == address; });
    Block block = *at;
    live_.erase(at);
    while (block.base != kOwn) {
      const Bytes buddy = ((block.address - block.base) ^ block.size) + block.base;
      const auto twin = std::find_if(free_.begin(), free_.end(), [&](const Block& b) {
        return b.address == buddy && b.size == block.size && b.base == block.base;
      });
      if (twin == free_.end()) break;
      free_.erase(twin);
      block = {std::min(block.address, buddy), block.size * 2, block.base};
    }
    free_.push_back(block);
  }

  void empty_cache() override {
    for (std::size_t i = free_.size(); i-- > 0;) {
      const bool own = free_[i].base == kOwn;
      if (!own && free_[i].size != warmth_.block) continue;
      if (!own) ++away_;
      device_.give_back(free_[i].size);
      free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  std::optional<Bytes> reserved() const override { return device_.held; }

 private:
  static constexpr Bytes kOwn = UINT64_MAX;
  struct Block {
    Bytes address;
    Bytes size;
    Bytes base;  ///< start of the warm block, or kOwn
  };

  bool take_warm_block() {
    const auto at = device_.obtain(warmth_.block);
    if (at) free_.push_back({*at, warmth_.block, *at});
    return at.has_value();
  }
  int last(bool warm, Bytes size) const {
    for (int i = static_cast<int>(free_.size()); i-- > 0;) {
      if ((free_[i].base != kOwn) == warm && free_[i].size == size) return i;
    }
    return -1;
  }
  int smallest_warm(Bytes size) const {
    for (; size <= warmth_.block; size *= 2) {
      if (const int part = last(true, size); part >= 0) return part;
    }
    return -1;
  }
  Bytes use(int i) {
    live_.push_back(free_[i]);
    free_.erase(free_.begin() + i);
    return live_.back().address;
  }

  Warmth warmth_;
  SlowDevice device_;
  bool started_ = false;
  int away_ = 0;
  std::vector<Block> free_;
  std::vector<Block> live_;
};

TEST(PinnedBuddy, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<Warmth>> cases = {
      {"pinned-buddy:block=4096,count=3,threshold=16", {4096, 3, 16}, {}},
      {"pinned-buddy:block=1024,count=8,threshold=0", {1024, 8, 0}, {}},
      {"pinned-buddy:block=512,count=10,threshold=128", {512, 10, 128}, 15000},
      {"pinned-buddy:block=8192,count=4,threshold=8", {8192, 4, 8}, 20000},
      {"pinned-buddy:count=0", {kGiB, 0, 4 * kMiB}, {}},
  };
  expect_agreement<SlowPinnedBuddy>(cases, 7, {.empty_caches = true});
}

}  // namespace
}  // namespace memreplay

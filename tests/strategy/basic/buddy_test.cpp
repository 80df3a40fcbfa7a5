#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_device.hpp"

namespace memreplay {
namespace {

TEST(Buddy, ARegionIsHalvedUntilTheBlockFits) {
  MemoryPicture m("buddy:min=1,max=8");
  m.alloc('A', 1);
  EXPECT_EQ(m.picture(), "A.......");
  EXPECT_EQ(m.strategy().free_ranges().size(), 3u);  // 1, 2 and 4
}

TEST(Buddy, TheLowestBlockOfTheLowestOrderServes) {
  MemoryPicture m("buddy:min=1,max=8");
  m.alloc('A', 2).alloc('B', 1).alloc('C', 2).free('A').alloc('D', 1).alloc('E', 1).alloc('F', 1);
  EXPECT_EQ(m.picture(), "EFBDCC..");
}

TEST(Buddy, SizesGrowToThePowerOfTwo) {
  MemoryPicture m("buddy:min=2,max=16");
  m.alloc('A', 1).alloc('B', 5).alloc('C', 3);
  EXPECT_EQ(m.picture(), "AA..CCCCBBBBBBBB");
  EXPECT_EQ(m.peak_allocated(), 14u);
}

TEST(Buddy, OnlyBuddiesJoin) {
  MemoryPicture m("buddy:min=1,max=4,grow=false");
  m.alloc('A', 1).alloc('B', 1).alloc('C', 1).alloc('D', 1).free('B').free('C').alloc('E', 2);
  EXPECT_EQ(m.picture(), "A..D");
  EXPECT_EQ(m.ooms(), 1);
  m.free('A').alloc('E', 2);
  EXPECT_EQ(m.picture(), "EE.D");
}

TEST(Buddy, AFullRegionIsFollowedByAnother) {
  MemoryPicture m("buddy:min=1,max=4");
  m.alloc('A', 4).alloc('B', 3).alloc('C', 1);
  EXPECT_EQ(m.picture(), "AAAA|BBBB|C...");
}

TEST(Buddy, ALowerOrderOfAYoungerRegionGoesBeforeAHigherOneOfAnOlder) {
  MemoryPicture m("buddy:min=1,max=4");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 1).free('B').alloc('D', 1);
  EXPECT_EQ(m.picture(), "AA..|CD..");
}

TEST(Buddy, WhatIsLargerThanARegionGetsItsOwn) {
  MemoryPicture m("buddy:min=2,max=4", 16);
  m.alloc('A', 1).alloc('B', 7);
  EXPECT_EQ(m.picture(), "AA..|BBBBBBBB");
  m.free('B');
  EXPECT_EQ(m.picture(), "AA..");
  EXPECT_EQ(m.device().held, 4u);
}

TEST(Buddy, WithoutDirectWhatIsLargerThanARegionIsRefused) {
  MemoryPicture m("buddy:min=1,max=4,direct=false");
  m.alloc('A', 5);
  EXPECT_EQ(m.ooms(), 1);
}

TEST(Buddy, ARegionIsNoLargerThanTheDevice) {
  MemoryPicture m("buddy:min=1", 12);
  m.alloc('A', 3);
  EXPECT_EQ(m.picture(), "AAAA....");
}

TEST(Buddy, WithReleaseFreeRegionsGoBackButForTheLast) {
  MemoryPicture m("buddy:min=1,max=4,release=true");
  m.alloc('A', 4).alloc('B', 4).alloc('C', 4).free('A').free('C');
  EXPECT_EQ(m.picture(), "BBBB");
  m.free('B');
  EXPECT_EQ(m.picture(), "....");
  m.empty_cache();
  EXPECT_EQ(m.picture(), "");
}

TEST(Buddy, AnAlignmentOfOneRequestTakesALargerBlock) {
  MemoryPicture m("buddy:min=1,max=8");
  m.alloc('A', 1).alloc('B', 2, 4);
  EXPECT_EQ(m.picture(), "A...BBBB");
}

TEST(Buddy, WhereTheRegionIsLessAlignedTheBlockMovesUp) {
  // Regions follow one another: the third begins at an odd MiB.
  MemoryPicture m("buddy:min=1MiB,max=8MiB", std::nullopt, kMiB);
  m.alloc('A', 8).alloc('B', 9).alloc('C', 8);
  EXPECT_EQ(m.picture(), "AAAAAAAA|BBBBBBBBB|CCCCCCCC");
  m.free('C').alloc('D', 2, 4 * kMiB);
  EXPECT_EQ(m.picture(), "AAAAAAAA|BBBBBBBBB|...DDDDD");
  EXPECT_EQ(m.strategy().free_space().total, 3 * kMiB);
  m.free('D').alloc('E', 8);
  EXPECT_EQ(m.picture(), "AAAAAAAA|BBBBBBBBB|EEEEEEEE");
}

TEST(Buddy, EqualBlocksFreedInAnyOrderLeaveOneBlockPerRegion) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 50; ++round) {
    SimulatedDevice device;
    const auto strategy =
        make_strategy(parse_strategy("buddy:min=16,max=1024"), {.device = device});
    std::vector<Handle> live;
    for (int i = 0; i < 96; ++i) live.push_back(strategy->allocate({.size = 32})->handle);
    std::shuffle(live.begin(), live.end(), random);
    for (const Handle block : live) strategy->free(block, {});
    const auto free = strategy->free_ranges();
    ASSERT_EQ(free.size(), 3u);
    for (const AddressRange range : free) ASSERT_EQ(range.size(), 1024u);
  }
}

TEST(Buddy, FreeBlocksLieAtMultiplesOfTheirSizeAndNoneHasAFreeBuddy) {
  SimulatedDevice device({.granularity = 1});
  const auto strategy = make_strategy(parse_strategy("buddy:min=4,max=512"), {.device = device});
  std::mt19937_64 random(1);
  std::vector<Placement> live;
  for (int step = 0; step < 3000; ++step) {
    if (live.empty() || random() % 2) {
      live.push_back(*strategy->allocate({.size = 1 + random() % (1 + random() % 400)}));
    } else {
      std::swap(live[random() % live.size()], live.back());
      strategy->free(live.back().handle, {});
      live.pop_back();
    }
    Bytes sum = 0;
    std::vector<std::pair<Address, Bytes>> free;
    for (const AddressRange range : strategy->free_ranges()) {
      ASSERT_EQ(range.from % range.size(), 0u);
      free.emplace_back(range.from, range.size());
      sum += range.size();
    }
    for (const auto& [at, size] : free) {
      if (size == 512) continue;
      ASSERT_EQ(std::count(free.begin(), free.end(), std::pair(at ^ size, size)), 0);
    }
    for (const Placement& block : live) sum += block.size;
    ASSERT_EQ(sum, device.usage().held);
  }
}

TEST(Buddy, InternalWasteIsCountedBySizeOfTheBlock) {
  MemoryPicture m("buddy:min=4,max=16");
  m.alloc('A', 3).alloc('B', 5).alloc('C', 6).free('B');
  const Counters counters = m.strategy().testimony().counters;
  const auto value = [&](std::string_view name) {
    for (const auto& [key, number] : counters) {
      if (key == name) return number;
    }
    return std::int64_t{-1};
  };
  EXPECT_EQ(value("blocks_of_4"), 1);
  EXPECT_EQ(value("internal_waste_of_4_bytes"), 1);
  EXPECT_EQ(value("blocks_of_8"), 2);
  EXPECT_EQ(value("internal_waste_of_8_bytes"), 5);
  EXPECT_EQ(value("blocks_of_16"), -1);
  EXPECT_EQ(value("internal_waste_peak_bytes"), 6);
}

TEST(Buddy, OptionsThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("buddy:min=0"), UsageError);
  EXPECT_THROW(MemoryPicture("buddy:max=3"), UsageError);
  EXPECT_THROW(MemoryPicture("buddy:min=8,max=4"), UsageError);
  EXPECT_THROW(MemoryPicture("buddy:grow=maybe"), UsageError);
}

struct Shape {
  Bytes min;
  Bytes max;
  bool grow = true;
  bool release = false;
};

/// All free blocks in one list, searched from end to end.
class SlowBuddy final : public SlowModel {
 public:
  SlowBuddy(const Shape& shape, std::optional<Bytes> capacity)
      : shape_(shape), device_{.capacity = capacity} {}

  std::optional<Bytes> allocate(const Request& request) override {
    const Bytes wanted = std::max(request.size, request.alignment);
    if (wanted > shape_.max) {
      const Bytes size = round_up(request.size, shape_.min);
      const auto at = device_.obtain(size);
      if (at) live_.push_back({0, 0, *at, size});
      return at;
    }
    Bytes size = shape_.min;
    while (size < wanted) size *= 2;
    auto best = lowest(size);
    if (!best) {
      if (!shape_.grow && regions_ != 0) return std::nullopt;
      const auto at = device_.obtain(shape_.max);
      if (!at) return std::nullopt;
      ++regions_;
      free_.push_back({++created_, *at, *at, shape_.max});
      best = lowest(size);
    }
    Block block = free_[*best];
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(*best));
    while (block.size > size) {
      block.size /= 2;
      free_.push_back({block.region, block.base, block.address + block.size, block.size});
    }
    live_.push_back(block);
    return block.address;
  }

  void free(Bytes address, const FreeOrigin&) override {
    const auto at = std::find_if(live_.begin(), live_.end(),
                                 [&](const Block& b) { return b.address == address; });
    Block block = *at;
    live_.erase(at);
    if (block.region == 0) return device_.give_back(block.size);
    while (block.size < shape_.max) {
      const Bytes buddy = block.base + ((block.address - block.base) ^ block.size);
      const auto twin = std::find_if(free_.begin(), free_.end(), [&](const Block& b) {
        return b.address == buddy && b.size == block.size;
      });
      if (twin == free_.end()) break;
      free_.erase(twin);
      block.address = std::min(block.address, buddy);
      block.size *= 2;
    }
    free_.push_back(block);
    if (shape_.release && block.size == shape_.max && regions_ > 1) return_region(free_.size() - 1);
  }

  void empty_cache() override {
    for (std::size_t i = free_.size(); i-- > 0;) {
      if (free_[i].size == shape_.max) return_region(i);
    }
  }

  std::optional<Bytes> reserved() const override { return device_.held; }

 private:
  struct Block {
    int region;  ///< counts up; 0: none
    Bytes base;
    Bytes address;
    Bytes size;
  };
  std::optional<std::size_t> lowest(Bytes size) const {
    std::optional<std::size_t> best;
    const auto key = [](const Block& b) { return std::tuple(b.size, b.region, b.address); };
    for (std::size_t i = 0; i < free_.size(); ++i) {
      if (free_[i].size >= size && (!best || key(free_[i]) < key(free_[*best]))) best = i;
    }
    return best;
  }
  void return_region(std::size_t i) {
    free_.erase(free_.begin() + static_cast<std::ptrdiff_t>(i));
    device_.give_back(shape_.max);
    --regions_;
  }

  Shape shape_;
  SlowDevice device_;
  int regions_ = 0;
  int created_ = 0;
  std::vector<Block> free_;
  std::vector<Block> live_;
};

TEST(Buddy, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<Shape>> cases = {
      {"buddy:min=1,max=1024", {1, 1024}, {}},
      {"buddy:min=16,max=512", {16, 512}, {}},
      {"buddy:min=8,max=2048", {8, 2048}, 20000},
      {"buddy:min=64,max=1024,release=true", {64, 1024, true, true}, 15000},
      {"buddy:min=16,max=16384,grow=false", {16, 16384, false}, {}},
  };
  expect_agreement<SlowBuddy>(cases, 7, {.empty_caches = true});
}

}  // namespace
}  // namespace memreplay

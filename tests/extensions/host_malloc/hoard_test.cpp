#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "core/error.hpp"
#include "strategy/places_add_up.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/counter_of.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_device.hpp"

namespace memreplay {
namespace {

/// Superblocks of eight letters; a heap may have one of them free.
constexpr const char* kSmall = "hoard:superblock=8,q=1,emptiness=2,k=1,local_limit=0";

TEST(Hoard, EachClassHasItsOwnSuperblocks) {
  MemoryPicture m(kSmall);
  m.alloc('A', 2).alloc('B', 1).alloc('C', 2);
  EXPECT_EQ(m.picture(), "AACC....|B.......");
}

TEST(Hoard, WhatIsLargerThanHalfASuperblockGetsARegionOfItsOwn) {
  MemoryPicture m(kSmall);
  m.alloc('A', 4).alloc('B', 5);
  EXPECT_EQ(m.picture(), "AAAA....|BBBBB");
  m.free('B');
  EXPECT_EQ(m.picture(), "AAAA....");
}

TEST(Hoard, ClassesAreAFifthApart) {
  MemoryPicture m("hoard:superblock=128,q=1,local_limit=0");
  m.alloc('A', 11).alloc('B', 13).alloc('C', 41).alloc('D', 64);
  EXPECT_EQ(m.peak_allocated(), 12u + 14 + 44 + 64);
}

TEST(Hoard, TheFullestSuperblockServes) {
  MemoryPicture m("hoard:superblock=4,q=1,emptiness=2,k=8,local_limit=0");
  m.alloc('A', 1).alloc('B', 1).alloc('C', 1).alloc('D', 1);
  m.alloc('E', 1).alloc('F', 1).alloc('G', 1).alloc('H', 1);
  m.free('A').free('B').free('F').alloc('I', 1);
  EXPECT_EQ(m.picture(), "..CD|EIGH");
}

TEST(Hoard, AHeapThatHoldsTooMuchGivesItsEmptiestSuperblockUp) {
  MemoryPicture m("hoard:superblock=4,q=1,emptiness=2,k=1,local_limit=0");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 2).alloc('D', 2);
  m.free('A').free('C');
  EXPECT_EQ(m.counter("moved_to_global"), 0);
  m.free('D');  // 6 of 8 are free, more than a superblock and more than half
  EXPECT_EQ(m.counter("moved_to_global"), 1);
  EXPECT_EQ(m.counter("global_heap_bytes"), 4);
  m.alloc('E', 1);  // the empty one serves another class
  EXPECT_EQ(m.picture(), "..BB|E...");
  EXPECT_EQ(m.device().allocs, 2u);
}

TEST(Hoard, BeyondItsCapTheGlobalHeapReturnsEmptySuperblocks) {
  MemoryPicture m("hoard:superblock=4,q=1,emptiness=4,k=0,local_limit=0,keep=0");
  m.alloc('A', 2).alloc('B', 2).alloc('C', 2).free('C');
  EXPECT_EQ(m.picture(), "AABB");
}

TEST(Hoard, AnAlignmentAboveTheQuantumMovesTheBlockUpInItsSlot) {
  MemoryPicture m("hoard:superblock=32,q=1,local_limit=0");
  m.alloc('A', 5).alloc('B', 2, 4);  // five letters are enough wherever the slot begins
  EXPECT_EQ(m.picture(), "AAAAA...BB......................");
}

TEST(Hoard, BlocksReturnToTheHeapThatOwnsThem) {
  SimulatedDevice device;
  const auto strategy = make_strategy(parse_strategy("hoard"), {.device = device});
  const auto a = strategy->allocate({.size = 4000, .thread = 1});
  strategy->free(a->handle, {0, 2});
  EXPECT_NE(strategy->allocate({.size = 4000, .thread = 2})->address, a->address);
  EXPECT_EQ(strategy->allocate({.size = 4000, .thread = 1})->address, a->address);
}

TEST(Hoard, ALocalBufferKeepsSmallBlocksForWhoFreedThem) {
  SimulatedDevice device;
  const auto strategy = make_strategy(parse_strategy("hoard:local_limit=1024"), {.device = device});
  const auto a = strategy->allocate({.size = 500, .thread = 1});
  const auto b = strategy->allocate({.size = 500, .thread = 1});
  const auto c = strategy->allocate({.size = 500, .thread = 1});
  for (const auto& block : {a, b, c}) strategy->free(block->handle, {0, 2});
  EXPECT_EQ(counter_of(*strategy, "local_buffer_bytes"), 1024);
  EXPECT_EQ(strategy->allocate({.size = 500, .thread = 2})->address, b->address);
  EXPECT_EQ(strategy->allocate({.size = 500, .thread = 1})->address, c->address);
}

TEST(Hoard, EmptyCacheReturnsWhatIsWhollyEmpty) {
  MemoryPicture m("hoard:superblock=4KiB,q=16,local_max=64", std::nullopt, 512);
  m.alloc('A', 2).alloc('B', 1).free('B').empty_cache();
  EXPECT_EQ(m.picture(), "AA......");
  m.free('A').empty_cache();
  EXPECT_EQ(m.picture(), "");
}

TEST(Hoard, OptionsThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("hoard:superblock=3MiB"), UsageError);
  EXPECT_THROW(MemoryPicture("hoard:q=2MiB"), UsageError);
  EXPECT_THROW(MemoryPicture("hoard:emptiness=1"), UsageError);
  EXPECT_THROW(MemoryPicture("hoard:heaps=0"), UsageError);
}

TEST(Hoard, HoldsNoMoreThanTheBoundOfThePaper) {
  constexpr Bytes kSuperblock = 1024;
  constexpr Bytes kHeaps = 4;
  constexpr Bytes kK = 2;
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    SimulatedDevice device({.granularity = 1});
    const auto strategy = make_strategy(
        parse_strategy("hoard:superblock=1024,q=16,heaps=4,k=2,local_limit=0"), {.device = device});
    std::mt19937_64 random(seed);
    const Bytes size = 16 << random() % 5;
    std::vector<Handle> live;
    Bytes peak = 0;
    std::uint32_t thread = 0;
    for (int step = 0; step < 6000; ++step) {
      // Phases in which one thread allocates, then others free: what blows other allocators up.
      if (step % 500 == 0) thread = static_cast<std::uint32_t>(random() % kHeaps);
      const bool growing = step % 500 < 250;
      if (live.empty() || random() % 100 < (growing ? 80 : 20)) {
        live.push_back(strategy->allocate({.size = size, .thread = thread})->handle);
      } else {
        std::swap(live[random() % live.size()], live.back());
        strategy->free(live.back(), {0, static_cast<std::uint32_t>(random() % kHeaps)});
        live.pop_back();
      }
      peak = std::max(peak, live.size() * size);
      ASSERT_LE(device.usage().held, peak * 8 / 7 + (kK * kHeaps + 1) * kSuperblock);
    }
  }
}

TEST(Hoard, BytesByPlaceAddUpToWhatIsHeld) {
  SimulatedDevice device({.granularity = 512});
  const auto strategy = make_strategy(parse_strategy("hoard"), {.device = device});
  expect_places_add_up(
      *strategy, device, 10000, 16,
      {"local_buffer_bytes", "thread_heap_bytes", "global_heap_bytes", "superblock_slack_bytes"});
}

struct Shape {
  Bytes superblock, q;
  Bytes emptiness = 8, k = 2;
  std::size_t heaps = 16;
  Bytes local_max = 1024, local_limit = 16 * kMiB;
  std::size_t keep = SIZE_MAX;
};

/// Superblocks in one list, their slots as plain flags; sums are taken anew each time.
class SlowHoard final : public SlowModel {
 public:
  SlowHoard(const Shape& shape, std::optional<Bytes> capacity)
      : s_(shape), device_{.capacity = capacity} {}

  std::optional<Bytes> allocate(const Request& request) override {
    Bytes wanted = request.size;
    if (request.alignment > s_.q) wanted += request.alignment - s_.q;
    if (wanted > s_.superblock / 2 || request.alignment > s_.superblock) {
      const Bytes size = round_up(request.size, s_.q);
      auto at = device_.obtain(size);
      if (!at) {
        return_empty(0);
        at = device_.obtain(size);
      }
      if (at) live_.push_back({*at, *at, size, false});
      return at;
    }
    Bytes size = s_.q;
    while (size < wanted) {
      size = std::max(size + s_.q, size * 6 / 5 / s_.q * s_.q);
      size = std::min(size, s_.superblock / 2);
    }
    const std::size_t who = actor({request.stream, request.thread});
    std::optional<Bytes> slot;
    if (auto& local = locals_[{who, size}]; !local.empty()) {
      slot = local.back();
      local.pop_back();
    } else {
      slot = from_heap(1 + who % s_.heaps, size);
    }
    if (!slot) return std::nullopt;
    live_.push_back({round_up(*slot, request.alignment), *slot, size, true});
    return live_.back().address;
  }

  void free(Bytes address, const FreeOrigin& giver) override {
    const auto at = std::find_if(live_.begin(), live_.end(),
                                 [&](const Block& b) { return b.address == address; });
    const Block block = *at;
    live_.erase(at);
    if (!block.small) return device_.give_back(block.size);
    if (block.size <= std::min(s_.local_max, s_.local_limit)) {
      const std::size_t who = actor(giver);
      Bytes kept = 0;
      for (const auto& [key, objects] : locals_) {
        if (key.first == who) kept += key.second * objects.size();
      }
      if (kept + block.size <= s_.local_limit)
        return locals_[{who, block.size}].push_back(block.slot);
    }
    put(block.slot);
  }

  void empty_cache() override {
    for (auto& [key, objects] : locals_) {
      for (const Bytes slot : objects) put(slot);
      objects.clear();
    }
    std::erase_if(superblocks_, [&](const Superblock& superblock) {
      if (used(superblock) != 0) return false;
      device_.give_back(s_.superblock);
      return true;
    });
  }

  std::optional<Bytes> reserved() const override { return device_.held; }

 private:
  struct Block {
    Bytes address, slot, size;
    bool small;
  };
  struct Superblock {
    Bytes address;
    std::size_t heap;
    Bytes size;  ///< 0: any class may have it
    std::vector<bool> taken;
  };

  static std::size_t used(const Superblock& s) {
    return static_cast<std::size_t>(std::count(s.taken.begin(), s.taken.end(), true));
  }
  std::size_t actor(const FreeOrigin& giver) {
    const std::pair key(giver.thread, giver.stream);
    const auto at = std::find(actors_.begin(), actors_.end(), key);
    if (at != actors_.end()) return static_cast<std::size_t>(at - actors_.begin());
    actors_.push_back(key);
    return actors_.size() - 1;
  }

  /// The fullest with room, the lowest of equals.
  Superblock* fullest(std::size_t heap, Bytes size) {
    Superblock* best = nullptr;
    for (Superblock& s : superblocks_) {
      if (s.heap != heap || s.size != size || used(s) == s.taken.size()) continue;
      if (!best || used(s) > used(*best) || (used(s) == used(*best) && s.address < best->address)) {
        best = &s;
      }
    }
    return best;
  }
  Superblock* emptiest(std::size_t heap, Bytes size) {
    Superblock* best = nullptr;
    for (Superblock& s : superblocks_) {
      if (s.heap != heap || s.size != size || used(s) == s.taken.size()) continue;
      if (!best || used(s) < used(*best) || (used(s) == used(*best) && s.address > best->address)) {
        best = &s;
      }
    }
    return best;
  }
  Superblock* lowest_empty() {
    Superblock* best = nullptr;
    for (Superblock& s : superblocks_) {
      if (s.heap == 0 && s.size == 0 && (!best || s.address < best->address)) best = &s;
    }
    return best;
  }

  std::optional<Bytes> from_heap(std::size_t heap, Bytes size) {
    Superblock* from = fullest(heap, size);
    if (!from) {
      from = fullest(0, size);
      if (!from) {
        from = lowest_empty();
        if (!from) {
          const auto at = device_.obtain(s_.superblock);
          if (!at) return std::nullopt;
          from = &superblocks_.emplace_back(Superblock{*at, 0, 0, {}});
        }
        from->size = size;
        from->taken.assign(s_.superblock / size, false);
      }
      from->heap = heap;
    }
    const auto slot = std::find(from->taken.begin(), from->taken.end(), false);
    *slot = true;
    return from->address + static_cast<Bytes>(slot - from->taken.begin()) * size;
  }

  void put(Bytes slot) {
    const auto at = std::find_if(
        superblocks_.begin(), superblocks_.end(),
        [&](const Superblock& s) { return s.address <= slot && slot < s.address + s_.superblock; });
    at->taken[(slot - at->address) / at->size] = false;
    const std::size_t heap = at->heap;
    const Bytes size = at->size;
    while (heap != 0) {
      Bytes u = 0;
      Bytes a = 0;
      for (const Superblock& s : superblocks_) {
        if (s.heap != heap || s.size != size) continue;
        u += used(s) * size;
        a += s.taken.size() * size;
      }
      Superblock* leaving = emptiest(heap, size);
      if (!leaving || u + s_.k * s_.superblock >= a || u * s_.emptiness >= (s_.emptiness - 1) * a) {
        break;
      }
      leaving->heap = 0;
    }
    for (Superblock& s : superblocks_) {
      if (s.heap == 0 && used(s) == 0) s.size = 0;
    }
    return_empty(s_.keep);
  }

  void return_empty(std::size_t keep) {
    const auto empty = [](const Superblock& s) { return s.heap == 0 && s.size == 0; };
    while (static_cast<std::size_t>(
               std::count_if(superblocks_.begin(), superblocks_.end(), empty)) > keep) {
      auto highest = superblocks_.end();
      for (auto at = superblocks_.begin(); at != superblocks_.end(); ++at) {
        if (!empty(*at)) continue;
        if (highest == superblocks_.end() || at->address > highest->address) highest = at;
      }
      device_.give_back(s_.superblock);
      superblocks_.erase(highest);
    }
  }

  Shape s_;
  SlowDevice device_;
  std::vector<Superblock> superblocks_;
  std::map<std::pair<std::size_t, Bytes>, std::vector<Bytes>> locals_;  ///< by actor and size
  std::vector<std::pair<std::uint32_t, StreamIndex>> actors_;
  std::vector<Block> live_;
};

TEST(Hoard, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<Shape>> cases = {
      {"hoard:superblock=512,q=8,local_limit=0", {512, 8, 8, 2, 16, 1024, 0}, {}},
      {"hoard:superblock=1024,q=16,emptiness=4,k=0,heaps=2,local_max=64,local_limit=300",
       {1024, 16, 4, 0, 2, 64, 300},
       {}},
      {"hoard:superblock=2048,q=4,emptiness=2,k=1,heaps=3,local_limit=0,keep=1",
       {2048, 4, 2, 1, 3, 1024, 0, 1},
       40000},
      {"hoard:superblock=256,q=32,k=0,heaps=1,local_max=128,local_limit=1000",
       {256, 32, 8, 0, 1, 128, 1000},
       12000},
  };
  expect_agreement<SlowHoard>(
      cases, 9,
      {.largest = 700, .streams = 2, .threads = 2, .strange_givers = true, .empty_caches = true});
}

}  // namespace
}  // namespace memreplay

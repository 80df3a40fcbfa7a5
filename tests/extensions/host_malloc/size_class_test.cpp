#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "core/error.hpp"
#include "extensions/host_malloc/size_classes.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_pages.hpp"

namespace memreplay {
namespace {

TEST(SizeClasses, AreTheQuantumsMultiplesAndThenFourForEachDoubling) {
  const SizeClasses classes(16, 2);
  std::vector<Bytes> sizes;
  for (Bytes size = 1; size <= 512; size = sizes.back() + 1) sizes.push_back(classes.rounded(size));
  EXPECT_EQ(sizes, (std::vector<Bytes>{16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320,
                                       384, 448, 512}));
}

TEST(SizeClasses, AreNumberedWithoutGapsAndRoundingTwiceChangesNothing) {
  for (const unsigned g : {0u, 1u, 2u, 3u}) {
    const SizeClasses classes(8, g);
    std::uint32_t number = 0;
    Bytes before = 0;
    for (Bytes size = 1; size < 100000; ++number) {
      const Bytes rounded = classes.rounded(size);
      ASSERT_EQ(classes.number(size), number);
      ASSERT_EQ(classes.number(rounded), number);
      ASSERT_EQ(classes.rounded(rounded), rounded);
      ASSERT_GT(rounded, before);
      if (before > 8u << (g + 1)) {
        ASSERT_LE(rounded << g, before * ((1u << g) + 1));
      }
      before = rounded;
      size = rounded + 1;
    }
  }
}

/// Letters are 16 bytes each.
constexpr const char* kSmall =
    "size-class:q=16,page=128,small_max=64,region=128,region_max=128,tcache=0";

TEST(SizeClass, SlotsOfASlabServeFromTheLowest) {
  MemoryPicture m(kSmall, std::nullopt, 16);
  m.alloc('A', 1).alloc('B', 1).alloc('C', 1).free('A').free('B').alloc('D', 1);
  EXPECT_EQ(m.picture(), "D.C.....");
}

TEST(SizeClass, EachClassHasItsOwnSlabs) {
  MemoryPicture m(kSmall, std::nullopt, 16);
  m.alloc('A', 1).alloc('B', 2).alloc('C', 1);
  EXPECT_EQ(m.picture(), "AC......|BB......");
}

TEST(SizeClass, ASlabLosesAtMostAnEighthAtItsEnd) {
  // Three slots of 48 in 128 bytes lose 32; in 256 five lose 16.
  MemoryPicture m(kSmall, std::nullopt, 16);
  m.alloc('A', 3).alloc('B', 3).alloc('C', 3);
  EXPECT_EQ(m.picture(), "AAABBBCCC.......");
}

TEST(SizeClass, WhenTheCurrentSlabIsFullTheLowestWithRoomServes) {
  MemoryPicture m(kSmall, std::nullopt, 16);
  m.alloc('A', 4).alloc('B', 4).alloc('C', 4).alloc('D', 4).alloc('E', 4);
  EXPECT_EQ(m.picture(), "AAAABBBB|CCCCDDDD|EEEE....");
  m.free('C').free('B').alloc('F', 4).alloc('G', 4);
  EXPECT_EQ(m.picture(), "AAAAGGGG|....DDDD|EEEEFFFF");
}

TEST(SizeClass, OneEmptySlabOfAClassIsKeptAndTheNextBecomesPages) {
  MemoryPicture m(kSmall, std::nullopt, 16);
  m.alloc('A', 4).alloc('B', 4).alloc('C', 4).free('A').free('B').free('C').alloc('D', 8);
  EXPECT_EQ(m.picture(), "........|DDDDDDDD");
}

TEST(SizeClass, LargeBlocksAreWholePagesBestFitAndTheLowestOfEquals) {
  MemoryPicture m("size-class:q=1,page=1,small_max=1,region=16,region_max=16,tcache=0");
  m.alloc('A', 4).alloc('B', 2).alloc('C', 3).alloc('D', 2).alloc('E', 5);
  EXPECT_EQ(m.picture(), "AAAABBCCCDDEEEEE");
  m.free('A').free('C').alloc('F', 3).alloc('G', 2).alloc('H', 2);
  EXPECT_EQ(m.picture(), "GGHHBBFFFDDEEEEE");
}

TEST(SizeClass, RegionsDoubleUpToTheirLargest) {
  MemoryPicture m("size-class:q=1,page=1,small_max=1,region=4,region_max=8,tcache=0");
  m.alloc('A', 4).alloc('B', 4).alloc('C', 8).alloc('D', 2);
  EXPECT_EQ(m.picture(), "AAAA|BBBBDD..|CCCCCCCC");
}

TEST(SizeClass, WhenTheDeviceIsFullIdleRegionsGoBackForWhatIsNeeded) {
  MemoryPicture m("size-class:q=1,page=1,small_max=1,region=4,region_max=8,tcache=0", 10);
  m.alloc('A', 4).alloc('B', 6).free('A').alloc('C', 3).alloc('D', 2);
  EXPECT_EQ(m.picture(), "CCC.|BBBBBB");
  EXPECT_EQ(m.ooms(), 1);
  m.free('C').alloc('E', 5);
  EXPECT_EQ(m.ooms(), 2);
  EXPECT_EQ(m.picture(), "BBBBBB");
  EXPECT_EQ(m.strategy().usage().oom_retries, 3u);
}

TEST(SizeClass, TheThreadCacheServesWhatWasFreedLast) {
  MemoryPicture m("size-class:q=16,page=128,small_max=64,region=128,region_max=128,tcache=4",
                  std::nullopt, 16);
  m.alloc('A', 1).alloc('B', 1).alloc('C', 1).free('A').free('B').alloc('D', 1).alloc('E', 1);
  EXPECT_EQ(m.picture(), "EDC.....");
}

TEST(SizeClass, TheOlderHalfOfAFullThreadCacheGoesToItsSlabs) {
  MemoryPicture m("size-class:q=16,page=128,small_max=64,region=128,region_max=128,tcache=2",
                  std::nullopt, 16);
  m.alloc('A', 1).alloc('B', 1).alloc('C', 1).alloc('D', 1);
  m.free('A').free('B').free('C');  // A goes to its slab
  m.alloc('E', 1).alloc('F', 1).alloc('G', 1);
  EXPECT_EQ(m.picture(), "GFED....");
}

TEST(SizeClass, WithDecayAnIdleRegionGoesBackAfterThatManyEvents) {
  MemoryPicture m("size-class:q=1,page=1,small_max=1,region=4,region_max=4,tcache=0,decay=2");
  m.alloc('A', 4).alloc('B', 4).free('A').alloc('C', 8).free('C');
  EXPECT_EQ(m.picture(), "....|BBBB|........");
  m.free('B');
  EXPECT_EQ(m.picture(), "....|........");
  MemoryPicture at_once("size-class:q=1,page=1,small_max=1,region=4,tcache=0,decay=0");
  at_once.alloc('A', 4).free('A');
  EXPECT_EQ(at_once.picture(), "");
}

TEST(SizeClass, ThreadsTakeTheArenasInTurn) {
  SimulatedDevice device({.granularity = 1});
  const auto strategy = make_strategy(
      parse_strategy("size-class:arenas=2,q=16,page=128,small_max=64,region=128,region_max=128"),
      {.device = device});
  const auto a = strategy->allocate({.size = 16, .thread = 7});
  const auto b = strategy->allocate({.size = 16, .thread = 8});
  const auto c = strategy->allocate({.size = 16, .thread = 9});
  EXPECT_EQ(device.usage().allocs, 2u);
  EXPECT_EQ(c->address, a->address + 16);
  EXPECT_NE(b->address / 128, a->address / 128);
}

TEST(SizeClass, APageHoldsOneClassAndLargeBlocksBeginWithAPage) {
  SimulatedDevice device;
  const auto strategy = make_strategy(
      parse_strategy("size-class:q=16,page=4096,small_max=8192,region=65536"), {.device = device});
  std::mt19937_64 random(1);
  std::map<Address, Placement> live;
  for (int step = 0; step < 20000; ++step) {
    if (live.size() < 200 || random() % 2) {
      const Bytes size = 1 + random() % (Bytes{1} << (4 + random() % 12));
      const auto block = strategy->allocate({.size = size, .thread = random() % 2 ? 1u : 2u});
      live.emplace(block->address, *block);
      if (size > 8192) {
        ASSERT_EQ(block->address % 4096, 0u);
      }
    } else {
      const auto victim = std::next(live.begin(), static_cast<long>(random() % live.size()));
      strategy->free(victim->second.handle, {});
      live.erase(victim);
    }
    if (step % 200 != 0) continue;
    std::map<Address, Bytes> class_of_page;
    for (const auto& [address, block] : live) {
      const auto [page, is_first] = class_of_page.emplace(address / 4096, block.size);
      ASSERT_EQ(page->second, block.size);
    }
  }
}

TEST(SizeClass, OptionsThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("size-class:q=3"), UsageError);
  EXPECT_THROW(MemoryPicture("size-class:page=0"), UsageError);
  EXPECT_THROW(MemoryPicture("size-class:arenas=0"), UsageError);
  EXPECT_THROW(MemoryPicture("size-class:g=9"), UsageError);
  EXPECT_THROW(MemoryPicture("size-class:decay=soon"), UsageError);
}

struct Shape {
  Bytes q, page, small_max, region, region_max;
  std::size_t slab_objects = 2, arenas = 1, tcache = 8;
};

/// Every page is a byte range in one list; every slab has its slots in a plain vector.
class SlowSizeClass final : public SlowModel {
 public:
  SlowSizeClass(const Shape& shape, std::optional<Bytes> capacity)
      : s_(shape), pages_{{.capacity = capacity}, shape.page}, next_region_(shape.region) {}

  std::optional<Bytes> allocate(const Request& request) override {
    Bytes size = class_of(request.size);
    while (size <= s_.small_max && size % request.alignment != 0) size = class_of(size + 1);
    if (size > s_.small_max || request.alignment > s_.page) {
      size = round_up(class_of(request.size), s_.page);
      const auto at = pages(size, request.alignment);
      if (at) live_.push_back({*at, size, -1});
      return at;
    }
    const std::size_t who = actor({request.stream, request.thread});
    auto& cache = caches_[{who, size}];
    Block block{};
    if (!cache.empty()) {
      block = cache.back();
      cache.pop_back();
    } else {
      const auto slot = from_slab(who % s_.arenas, size);
      if (!slot) return std::nullopt;
      block = *slot;
    }
    live_.push_back(block);
    return block.address;
  }

  void free(Bytes address, const FreeOrigin& giver) override {
    const auto at = std::find_if(live_.begin(), live_.end(),
                                 [&](const Block& b) { return b.address == address; });
    const Block block = *at;
    live_.erase(at);
    if (block.slab < 0) return pages_.put(block.address, block.size);
    if (s_.tcache == 0) return put_slot(block);
    auto& cache = caches_[{actor(giver), block.size}];
    cache.push_back(block);
    if (cache.size() <= s_.tcache) return;
    for (std::size_t n = cache.size() / 2; n-- > 0;) {
      put_slot(cache.front());
      cache.erase(cache.begin());
    }
  }

  void empty_cache() override {
    for (auto& [key, cache] : caches_) {
      for (const Block& block : cache) put_slot(block);
      cache.clear();
    }
    for (Slab& slab : slabs_) {
      if (slab.bytes != 0 && is_empty(slab)) release(slab);
    }
    pages_.return_idle();
  }

  std::optional<Bytes> reserved() const override { return pages_.device.held; }

 private:
  struct Block {
    Bytes address;
    Bytes size;
    int slab;
  };
  struct Slab {
    Bytes address;
    Bytes bytes;  ///< 0: gone
    Bytes size;
    std::size_t arena;
    std::vector<bool> taken;
  };
  Bytes class_of(Bytes r) const {
    if (r <= 8 * s_.q) return round_up(r, s_.q);
    Bytes power = 1;
    while (power < r) power *= 2;
    return round_up(r, power / 8);
  }
  std::size_t actor(const FreeOrigin& giver) {
    const std::pair key(giver.thread, giver.stream);
    const auto at = std::find(actors_.begin(), actors_.end(), key);
    if (at == actors_.end()) {
      actors_.push_back(key);
      return actors_.size() - 1;
    }
    return static_cast<std::size_t>(at - actors_.begin());
  }
  static bool is_empty(const Slab& slab) {
    return std::count(slab.taken.begin(), slab.taken.end(), true) == 0;
  }
  static bool is_full(const Slab& slab) {
    return std::count(slab.taken.begin(), slab.taken.end(), false) == 0;
  }

  std::optional<Block> from_slab(std::size_t arena, Bytes size) {
    int& current = current_.try_emplace({arena, size}, -1).first->second;
    if (current >= 0 && is_full(slabs_[current])) current = -1;
    if (current < 0) {
      for (int i = 0; i < static_cast<int>(slabs_.size()); ++i) {
        const Slab& slab = slabs_[i];
        if (slab.bytes == 0 || slab.size != size || slab.arena != arena || is_full(slab)) continue;
        if (current < 0 || slab.address < slabs_[current].address) current = i;
      }
    }
    if (current < 0) {
      Bytes bytes = round_up(size * s_.slab_objects, s_.page);
      while (bytes % size > bytes / 8) bytes += s_.page;
      const auto at = pages(bytes, 1);
      if (!at) return std::nullopt;
      slabs_.push_back({*at, bytes, size, arena, std::vector<bool>(bytes / size)});
      current = static_cast<int>(slabs_.size()) - 1;
    }
    Slab& slab = slabs_[current];
    const auto slot = std::find(slab.taken.begin(), slab.taken.end(), false) - slab.taken.begin();
    slab.taken[slot] = true;
    const Block block{slab.address + slot * size, size, current};
    return block;
  }

  void put_slot(const Block& block) {
    Slab& slab = slabs_[block.slab];
    slab.taken[(block.address - slab.address) / slab.size] = false;
    if (!is_empty(slab)) return;
    const auto empty = std::count_if(slabs_.begin(), slabs_.end(), [&](const Slab& other) {
      return other.bytes != 0 && other.size == slab.size && other.arena == slab.arena &&
             is_empty(other);
    });
    if (empty > 1) release(slab);
  }

  void release(Slab& slab) {
    int& current = current_[{slab.arena, slab.size}];
    if (current == &slab - slabs_.data()) current = -1;
    pages_.put(slab.address, slab.bytes);
    slab.bytes = 0;
  }

  std::optional<Bytes> pages(Bytes size, Bytes alignment) {
    bool grew = false;
    const auto at = pages_.take(size, alignment, next_region_, &grew);
    if (grew) next_region_ = std::min(next_region_ * 2, s_.region_max);
    return at;
  }

  Shape s_;
  SlowPages pages_;
  Bytes next_region_;
  std::vector<Slab> slabs_;
  std::map<std::pair<std::size_t, Bytes>, int> current_;                ///< slab by arena and size
  std::map<std::pair<std::size_t, Bytes>, std::vector<Block>> caches_;  ///< by actor and size
  std::vector<std::pair<std::uint32_t, StreamIndex>> actors_;
  std::vector<Block> live_;
};

TEST(SizeClass, AgreesWithASlowModelOnRandomTraces) {
  const std::vector<ModelCase<Shape>> cases = {
      {"size-class:q=4,page=256,small_max=128,region=1024,region_max=4096",
       {4, 256, 128, 1024, 4096},
       {}},
      {"size-class:q=8,page=64,small_max=256,region=512,region_max=512,tcache=3,slab_objects=4",
       {8, 64, 256, 512, 512, 4, 1, 3},
       {}},
      {"size-class:q=16,page=128,small_max=512,region=2048,region_max=8192,tcache=0,arenas=2",
       {16, 128, 512, 2048, 8192, 2, 2, 0},
       20000},
      {"size-class:q=1,page=16,small_max=64,region=256,region_max=1024,tcache=1,arenas=3",
       {1, 16, 64, 256, 1024, 2, 3, 1},
       15000},
  };
  expect_agreement<SlowSizeClass>(
      cases, 9, {.streams = 2, .threads = 2, .strange_givers = true, .empty_caches = true});
}

}  // namespace
}  // namespace memreplay

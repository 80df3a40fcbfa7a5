#include <fmt/format.h>
#include <gtest/gtest.h>

#include <bit>

#include "core/error.hpp"
#include "strategy/random_play.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"
#include "support/slow_device.hpp"

namespace memreplay {
namespace {

TEST(Cub, SizesArePowersOfTheGrowth) {
  MemoryPicture m("cub:bin_growth=2,min_bin=1,max_bin=4");
  m.alloc('A', 1).alloc('B', 3).alloc('C', 4).alloc('D', 9);
  EXPECT_EQ(m.picture(), "AA|BBBB|CCCC|DDDDDDDDDDDDDDDD");
}

TEST(Cub, BeyondTheLargestBinBlocksAreExactAndNeverCached) {
  MemoryPicture m("cub:bin_growth=2,min_bin=1,max_bin=3");
  m.alloc('A', 9);
  EXPECT_EQ(m.picture(), "AAAAAAAAA");
  m.free('A');
  EXPECT_EQ(m.picture(), "");
  EXPECT_EQ(m.syncs(), 1u);
}

TEST(Cub, TheDefaultBinsAre512BytesTo2MiB) {
  SimulatedDevice device({.granularity = 1});
  const auto cub = make_strategy(parse_strategy("cub"), {.device = device});
  const std::pair<Bytes, Bytes> sizes[] = {
      {1, 512},         {513, 4 * kKiB},      {5000, 32 * kKiB},
      {kMiB, 2 * kMiB}, {2 * kMiB, 2 * kMiB}, {2 * kMiB + 1, 2 * kMiB + 1}};
  for (const auto& [requested, charged] : sizes) {
    EXPECT_EQ(cub->allocate({.size = requested})->size, charged);
  }
}

TEST(Cub, ACachedBlockServesItsOwnBinOnly) {
  MemoryPicture m("cub:bin_growth=2,min_bin=0,max_bin=4");
  m.alloc('A', 8).free('A').alloc('B', 4).alloc('C', 5);
  EXPECT_EQ(m.picture(), "CCCCCCCC|BBBB");
}

TEST(Cub, TheBlockThatWasCachedFirstServesFirst) {
  MemoryPicture m("cub:bin_growth=2,min_bin=2,max_bin=4");
  m.alloc('A', 4).alloc('B', 4).free('B').free('A').alloc('C', 4);
  EXPECT_EQ(m.picture(), "....|CCCC");
}

TEST(Cub, WhatWouldBeCachedBeyondTheLimitGoesBack) {
  MemoryPicture m("cub:bin_growth=2,min_bin=2,max_bin=3,max_cached=9");
  m.alloc('A', 4).alloc('B', 4).alloc('C', 4).free('A').free('B').free('C');
  EXPECT_EQ(m.picture(), "....|....");
  EXPECT_EQ(m.counter("cached_bytes"), 8);
  EXPECT_EQ(m.syncs(), 1u);
}

TEST(Cub, TheDefaultLimitIsThreeOfTheLargestBlocksLessAByte) {
  MemoryPicture m("cub:bin_growth=2,min_bin=2,max_bin=3");
  m.alloc('A', 8).alloc('B', 8).alloc('C', 8).free('A').free('B').free('C');
  EXPECT_EQ(m.picture(), "........|........");
}

TEST(Cub, AFullDeviceMakesItReturnAllItHasCached) {
  MemoryPicture m("cub:bin_growth=2,min_bin=1,max_bin=4", 12);
  m.alloc('A', 4).alloc('B', 4).free('A').free('B').alloc('C', 8);
  EXPECT_EQ(m.picture(), "CCCCCCCC");
  EXPECT_EQ(m.oom_retries(), 1u);
  EXPECT_EQ(m.syncs(), 1u);
}

TEST(Cub, AnotherStreamsBlockServesOnlyWhenItsWorkIsDone) {
  MemoryPicture never("cub:bin_growth=2,min_bin=2,max_bin=4,completion=never");
  never.alloc('A', 4).free('A').on(1).alloc('B', 4);
  EXPECT_EQ(never.picture(), "....|BBBB");
  never.on(0).alloc('C', 4);
  EXPECT_EQ(never.picture(), "CCCC|BBBB");

  MemoryPicture lag("cub:bin_growth=2,min_bin=2,max_bin=4,completion=lag:2");
  lag.alloc('A', 4).free('A').on(1).alloc('B', 4);
  EXPECT_EQ(lag.picture(), "....|BBBB");
  lag.alloc('C', 4);
  EXPECT_EQ(lag.picture(), "CCCC|BBBB");
}

TEST(Cub, AFreedBlockBelongsToTheStreamThatAskedForIt) {
  MemoryPicture m("cub:bin_growth=2,min_bin=2,max_bin=4,completion=never");
  m.on(0).alloc('A', 4).on(1).free('A').alloc('B', 4);
  EXPECT_EQ(m.picture(), "....|BBBB");
}

TEST(Cub, EmptyCacheReturnsWhatIsCached) {
  MemoryPicture m("cub");
  m.alloc('A', 600).alloc('B', 600).free('A').empty_cache();
  EXPECT_EQ(m.device().regions, 1u);
  EXPECT_EQ(m.counter("cached_bytes"), 0);
}

TEST(Cub, WithoutALimitItHoldsTheSumOfThePeaksOfTheBins) {
  MemoryPicture m("cub:bin_growth=2,min_bin=1,max_bin=none");
  m.alloc('A', 2).alloc('B', 2).free('A').free('B');
  m.alloc('A', 16).alloc('B', 16).alloc('C', 16).free('A').free('B').free('C');
  EXPECT_EQ(m.device().peak_held, 2u * 2 + 3u * 16);
  EXPECT_EQ(m.device().held, 2u * 2 + 3u * 16);
}

TEST(Cub, BinsThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("cub:min_bin=8"), UsageError);
  EXPECT_THROW(MemoryPicture("cub:bin_growth=1"), UsageError);
  EXPECT_THROW(MemoryPicture("cub:min_bin=30,max_bin=31"), UsageError);
  EXPECT_THROW(MemoryPicture("cub:completion=soon"), UsageError);
  EXPECT_THROW(MemoryPicture("cub:completion=lag:"), UsageError);
}

TEST(Cub, SizesArePowersAndWhatIsCachedStaysBelowTheLimit) {
  const RandomPlay play{.streams = 3, .capacity = 20000, .strange_givers = true};
  play_at_random(
      "cub:bin_growth=2,min_bin=3,max_bin=8,max_cached=3000", play, [](const Played& played) {
        ASSERT_LE(played.counter("cached_bytes"), 3000);
        if (!played.placement) return;
        const Bytes size = played.placement->size;
        ASSERT_TRUE(size > 256 ? size == played.request->size : std::has_single_bit(size));
      });
}

/// One list of what is cached, gone through from the oldest on.
class SlowCub final : public SlowModel {
 public:
  struct Options {
    Bytes growth;
    int min_bin;
    int max_bin;
    Bytes max_cached;
    std::optional<std::uint64_t> lag;  ///< unset: never
  };
  SlowCub(SlowDevice device, const Options& options) : device_(device), options_(options) {}

  std::optional<Bytes> allocate(const Request& request) override {
    ++now_;
    int bin = 0;
    Bytes size = 1;
    for (; size < request.size || bin < options_.min_bin; ++bin) size *= options_.growth;
    const bool cacheable = bin <= options_.max_bin;
    if (!cacheable) size = request.size;
    for (auto at = cached_.begin(); cacheable && at != cached_.end(); ++at) {
      const bool done = options_.lag && now_ - at->freed >= *options_.lag;
      if (at->size != size || (at->stream != request.stream && !done)) continue;
      const Bytes address = at->address;
      live_[address] = {address, size, request.stream, 0, true};
      cached_.erase(at);
      return address;
    }
    auto address = device_.obtain(size);
    if (!address) {
      empty_cache();
      address = device_.obtain(size);
    }
    if (address) live_[*address] = {*address, size, request.stream, 0, cacheable};
    return address;
  }

  void free(Bytes address, const FreeOrigin&) override {
    Block block = live_[address];
    live_.erase(address);
    block.freed = ++now_;
    Bytes cached = 0;
    for (const Block& other : cached_) cached += other.size;
    if (block.cacheable && cached + block.size <= options_.max_cached) {
      cached_.push_back(block);
    } else {
      device_.give_back_at(address);
    }
  }

  void empty_cache() override {
    for (const Block& block : cached_) device_.give_back_at(block.address);
    cached_.clear();
  }

  std::optional<Bytes> reserved() const override { return device_.held; }

 private:
  struct Block {
    Bytes address;
    Bytes size;
    StreamIndex stream;
    std::uint64_t freed;
    bool cacheable;
  };

  SlowDevice device_;
  Options options_;
  std::uint64_t now_ = 0;
  std::vector<Block> cached_;
  std::map<Bytes, Block> live_;
};

TEST(Cub, AgreesWithASlowModelOnRandomTraces) {
  struct Case {
    SlowCub::Options options;
    std::optional<Bytes> capacity;
  };
  const Case cases[] = {{{2, 1, 9, 5000, 0}, {}},
                        {{8, 1, 3, 3000, 0}, 20000},
                        {{2, 3, 12, UINT64_MAX, std::nullopt}, 9000},
                        {{3, 0, 6, 2000, 5}, {}},
                        {{2, 0, 8, 4000, 12}, 12000},
                        {{4, 2, 4, 600, std::nullopt}, {}}};
  for (const auto& [options, capacity] : cases) {
    const std::string lag = !options.lag        ? "never"
                            : *options.lag == 0 ? "immediate"
                                                : fmt::format("lag:{}", *options.lag);
    const std::string spec =
        fmt::format("cub:bin_growth={},min_bin={},max_bin={},max_cached={},completion={}",
                    options.growth, options.min_bin, options.max_bin, options.max_cached, lag);
    SCOPED_TRACE(spec);
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
      SlowCub model({.capacity = capacity}, options);
      expect_same_placements(spec, model,
                             {.seed = seed,
                              .capacity = capacity,
                              .streams = 3,
                              .strange_givers = true,
                              .empty_caches = true});
    }
  }
}

}  // namespace
}  // namespace memreplay

#include <gtest/gtest.h>

#include <bit>

#include "core/error.hpp"
#include "strategy/registry.hpp"
#include "strategy/strategy_against_model.hpp"
#include "support/memory_picture.hpp"

namespace memreplay {
namespace {

constexpr Bytes kUnit = 256;

TEST(RmmBinning, TheSmallestBinThatIsLargeEnoughServes) {
  MemoryPicture m("rmm-binning:bins=[256,1KiB],blocks_per_chunk=2", {}, kUnit);
  m.alloc('A', 1).alloc('B', 2).alloc('C', 4);
  EXPECT_EQ(m.picture(), "A.|BBBBCCCC");
}

TEST(RmmBinning, AFullBinGrowsByItselfAndBorrowsFromNoOther) {
  MemoryPicture m("rmm-binning:bins=[256,512],blocks_per_chunk=1", {}, kUnit);
  m.alloc('A', 1).alloc('B', 1);
  EXPECT_EQ(m.picture(), "A|..|B");
}

TEST(RmmBinning, WhatIsAboveTheLargestBinGoesToThePool) {
  MemoryPicture m("rmm-binning:bins=[256],blocks_per_chunk=2", {}, kUnit);
  m.alloc('A', 3).alloc('B', 3).free('A').alloc('C', 2);
  EXPECT_EQ(m.picture(), "..|CC.|BBB");
  EXPECT_EQ(m.counter("upstream_requests"), 3);
}

TEST(RmmBinning, AnotherUpstreamIsWrittenInParentheses) {
  MemoryPicture m("rmm-binning(direct):bins=[256],blocks_per_chunk=2", {}, kUnit);
  m.alloc('A', 3).alloc('B', 1).free('A');
  EXPECT_EQ(m.picture(), "B.");
}

TEST(RmmBinning, TheDefaultBinsAreFiveOf256KiBTo4MiB) {
  MemoryPicture m("rmm-binning");
  EXPECT_EQ(m.device().held, 128 * (256 * kKiB + 512 * kKiB + kMiB + 2 * kMiB + 4 * kMiB));
  EXPECT_EQ(m.device().regions, 5u);
}

TEST(RmmBinning, EveryBlockIsAWholeBinFromItsChunksStart) {
  SimulatedDevice device;
  const auto binning =
      make_strategy(parse_strategy("rmm-binning:min_exponent=8,max_exponent=12,blocks_per_chunk=3"),
                    {.device = device});
  for (Bytes size = 1; size <= 4096; size += 37) {
    const auto placement = binning->allocate({.size = size});
    EXPECT_EQ(placement->size, std::max<Bytes>(256, std::bit_ceil(size)));
    EXPECT_EQ(placement->address % placement->size, 0u);
  }
}

TEST(RmmBinning, BinsThatMeanNothingAreRefused) {
  EXPECT_THROW(MemoryPicture("rmm-binning:bins=[256,]"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-binning:bins=256"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-binning:bins=[x]"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-binning:min_exponent=5,max_exponent=4"), UsageError);
  EXPECT_THROW(MemoryPicture("rmm-binning(direct,bump)"), UsageError);
}

TEST(RmmBinning, WithoutBinsItIsTheUpstream) {
  const auto addresses = [](std::string_view spec) {
    SimulatedDevice device({.capacity = 64 * kMiB});
    const auto strategy =
        make_strategy(parse_strategy(spec), {.device = device, .capacity = 64 * kMiB});
    std::mt19937_64 random(3);
    std::vector<Address> placed;
    std::vector<Handle> live;
    for (int step = 0; step < 5000; ++step) {
      if (live.empty() || random() % 2) {
        const auto placement = strategy->allocate(
            {.size = 1 + random() % kMiB, .stream = static_cast<StreamIndex>(random() % 3)});
        placed.push_back(placement ? placement->address : 0);
        if (placement) live.push_back(placement->handle);
      } else {
        const std::size_t victim = random() % live.size();
        strategy->free(live[victim], {.stream = static_cast<StreamIndex>(random() % 3)});
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      }
    }
    return placed;
  };
  EXPECT_EQ(addresses("rmm-binning:bins=[]"), addresses("rmm-pool"));
  EXPECT_EQ(addresses("rmm-binning(free-list):bins=[]"), addresses("free-list"));
}

/// Blocks of each bin by number; those above lie in regions of their own.
class SlowBinning final : public SlowModel {
 public:
  std::optional<Bytes> allocate(const Request& request) override {
    for (Bin& bin : bins_) {
      if (request.size > bin.size) continue;
      if (bin.free.empty()) {
        for (Bytes i = 0; i < kBlocks; ++i) bin.free.push_back(next_ + i * bin.size);
        reserved_ += kBlocks * bin.size;
        next_ += round_up(kBlocks * bin.size, 256);
      }
      const Bytes at = bin.free.front();
      bin.free.erase(bin.free.begin());
      owner_[at] = &bin;
      return at;
    }
    const Bytes at = next_;
    next_ += round_up(request.size, 256);
    reserved_ += above_[at] = request.size;
    return at;
  }
  void free(Bytes address, const FreeOrigin&) override {
    if (above_.contains(address)) {
      reserved_ -= above_[address];
      above_.erase(address);
    } else {
      owner_[address]->free.push_back(address);
    }
  }
  std::optional<Bytes> reserved() const override { return reserved_; }

 private:
  static constexpr Bytes kBlocks = 5;
  struct Bin {
    Bytes size;
    std::vector<Bytes> free;
  };
  static std::vector<Bytes> blocks(Bytes chunk, Bytes size) {
    std::vector<Bytes> all;
    for (Bytes i = 0; i < kBlocks; ++i) all.push_back(chunk + i * size);
    return all;
  }

  std::vector<Bin> bins_ = {
      {256, blocks(0, 256)}, {1024, blocks(5 * 256, 1024)}, {4096, blocks(5 * 1280, 4096)}};
  Bytes next_ = kBlocks * (256 + 1024 + 4096);
  Bytes reserved_ = kBlocks * (256 + 1024 + 4096);
  std::map<Bytes, Bin*> owner_;
  std::map<Bytes, Bytes> above_;
};

TEST(RmmBinning, AgreesWithASlowModelOnRandomTraces) {
  for (std::uint64_t seed = 0; seed < 35; ++seed) {
    SlowBinning model;
    expect_same_placements("rmm-binning(direct):bins=[256,1KiB,4KiB],blocks_per_chunk=5", model,
                           {.seed = seed, .largest = 9000, .aligned = false});
  }
}

}  // namespace
}  // namespace memreplay

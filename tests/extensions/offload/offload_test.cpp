#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <random>

#include "core/error.hpp"
#include "device/simulated_device.hpp"
#include "strategy/registry.hpp"
#include "support/counter_of.hpp"

namespace memreplay {
namespace {

constexpr std::string_view kTight = "offload(free-list)";

/// A device of `capacity` bytes and one strategy over it; blocks have letters.
class Offloaded {
 public:
  explicit Offloaded(std::string_view strategy, Bytes capacity, std::uint64_t uses = 1)
      : device_({.capacity = capacity, .granularity = 1}) {
    StrategyContext context{.device = device_, .capacity = capacity};
    static const std::vector<std::string> kTexts = {"", "weights", "activations"};
    context.texts = kTexts;
    context.uses = uses;
    strategy_ = make_strategy(parse_strategy(strategy), context);
  }

  Offloaded& alloc(char name, Bytes size, std::uint32_t tag = 0) {
    const auto placement = strategy_->allocate({.size = size, .tag = tag});
    if (placement) handles_[name] = placement->handle;
    served_ = placement.has_value();
    note_moved();
    return *this;
  }
  Offloaded& free(char name) {
    strategy_->free(handles_.at(name), {});
    handles_.erase(name);
    note_moved();
    return *this;
  }

  bool served() const { return served_; }
  std::string moved() const { return moved_; }
  double stall() const { return strategy_->usage().stall_seconds; }
  Strategy& strategy() { return *strategy_; }
  std::int64_t counter(std::string_view name) const { return counter_of(*strategy_, name); }

 private:
  void note_moved() {
    for (const Handle handle : *strategy_->usage().moved_out) {
      for (const auto& [name, known] : handles_) {
        if (known == handle) moved_ += name;
      }
    }
  }

  SimulatedDevice device_;
  std::unique_ptr<Strategy> strategy_;
  std::map<char, Handle> handles_;
  std::string moved_;
  bool served_ = false;
};

TEST(Offload, WhileThereIsRoomNothingMovesAndNothingIsSaid) {
  Offloaded m(kTight, 10);
  m.alloc('A', 4).alloc('B', 4).free('A');
  EXPECT_EQ(m.moved(), "");
  EXPECT_EQ(m.stall(), 0);
  EXPECT_TRUE(m.strategy().testimony().remarks.empty());
}

TEST(Offload, TheOldestBlocksLeaveUntilTheRequestFits) {
  Offloaded m("offload(direct)", 10);
  m.alloc('A', 4).alloc('B', 4).alloc('C', 2).alloc('D', 5);
  EXPECT_TRUE(m.served());
  EXPECT_EQ(m.moved(), "AB");
  EXPECT_EQ(m.counter("offload_host_written_bytes"), 8);
  EXPECT_EQ(m.counter("offload_host_peak_bytes"), 8);
  ASSERT_EQ(m.strategy().testimony().remarks.size(), 1u);
}

TEST(Offload, TheLargestMayGoFirst) {
  Offloaded m("offload(direct):victim=largest", 10);
  m.alloc('A', 3).alloc('B', 5).alloc('C', 2).alloc('D', 4);
  EXPECT_EQ(m.moved(), "B");
}

TEST(Offload, OnlyBlocksWithTheTagMove) {
  Offloaded m("offload(direct):tag=activations", 10);
  m.alloc('A', 4, 1).alloc('B', 3, 2).alloc('C', 3, 2).alloc('D', 5);
  EXPECT_TRUE(m.served());
  EXPECT_EQ(m.moved(), "BC");
  m.alloc('E', 5);
  EXPECT_FALSE(m.served());
}

TEST(Offload, AMovedBlockComesBackBeforeItIsFreedAndOthersMakeRoom) {
  Offloaded m("offload(direct)", 10);
  m.alloc('A', 6).alloc('B', 6).free('A');
  EXPECT_EQ(m.moved(), "AB");
  EXPECT_EQ(m.counter("offload_host_read_bytes"), 6);
  EXPECT_EQ(m.counter("offload_host_written_bytes"), 12);
  EXPECT_EQ(m.counter("offload_host_end_bytes"), 6);
  m.free('B');
  EXPECT_EQ(m.counter("offload_host_end_bytes"), 0);
  EXPECT_DOUBLE_EQ(m.stall(), 24 / 25e9);
}

TEST(Offload, EveryUseBringsItBackAndAllButTheLastSendItAway) {
  for (const std::uint64_t uses : {0, 1, 3}) {
    Offloaded m("offload(direct)", 10, uses);
    m.alloc('A', 6).alloc('B', 3).alloc('C', 2).free('B').free('A');
    EXPECT_EQ(m.counter("offload_host_read_bytes"), static_cast<std::int64_t>(6 * uses));
    EXPECT_EQ(m.counter("offload_host_written_bytes"), uses == 3 ? 18 : 6);
  }
}

TEST(Offload, WhereHostMemoryIsFullNvmeIsNextAndThenNothing) {
  Offloaded m("offload(direct):host=5,nvme=5,host_bandwidth=10,nvme_bandwidth=1", 10);
  m.alloc('A', 5).alloc('B', 5).alloc('C', 10);
  EXPECT_TRUE(m.served());
  EXPECT_EQ(m.counter("offload_host_end_bytes"), 5);
  EXPECT_EQ(m.counter("offload_nvme_end_bytes"), 5);
  EXPECT_DOUBLE_EQ(m.stall(), 5 / 10e9 + 5 / 1e9);
  m.alloc('D', 1);
  EXPECT_FALSE(m.served());
}

TEST(Offload, ABlockThatCannotComeBackCountsAndIsSaid) {
  Offloaded m("offload(direct):host=6", 10);
  m.alloc('A', 6).alloc('B', 6);
  EXPECT_EQ(m.moved(), "A");
  m.alloc('C', 4);
  m.free('A');
  EXPECT_EQ(m.strategy().usage().unserved_returns, 1u) << "it lies on the host until it is back";
  Offloaded pinned("offload(direct):tag=weights", 10);
  pinned.alloc('A', 6, 1).alloc('B', 6, 2).free('A');
  EXPECT_EQ(pinned.strategy().usage().unserved_returns, 1u);
  EXPECT_EQ(pinned.strategy().testimony().remarks.size(), 2u);
}

TEST(Offload, WhatAStreamStillUsesStays) {
  SimulatedDevice device({.capacity = 10, .granularity = 1});
  const auto m = make_strategy(parse_strategy("offload(direct)"), {.device = device});
  const auto a = m->allocate({.size = 6});
  m->request_free(a->handle);
  EXPECT_FALSE(m->allocate({.size = 6}));
  EXPECT_TRUE(m->usage().moved_out->empty());
  m->complete_free(a->handle);
  EXPECT_TRUE(m->allocate({.size = 6}));
}

TEST(Offload, AMarkerAndAFrontierMoveNothing) {
  for (const auto step : {+[](ProgramSteps& steps) { steps.marker(); },
                          +[](ProgramSteps& steps) { steps.safe_frontier(1); }}) {
    Offloaded m("offload(direct)", 10);
    m.alloc('A', 6).alloc('B', 6);
    ASSERT_EQ(m.strategy().usage().moved_out->size(), 1u);
    step(*m.strategy().abilities().steps);
    EXPECT_TRUE(m.strategy().usage().moved_out->empty());
  }
}

TEST(Offload, OptionsThatMeanNothingAreRefused) {
  for (const char* spec :
       {"offload", "offload(torch,torch)", "offload(torch):host_bandwidth=0",
        "offload(torch):victim=me", "offload(offload(torch))", "offload(torch):uses=-1"}) {
    EXPECT_THROW(Offloaded(spec, 10), UsageError) << spec;
  }
}

/// Sizes and places of live blocks, on a device that does not fragment.
TEST(Offload, AgreesWithASlowModelOnRandomTraces) {
  struct Block {
    Bytes size;
    Handle handle;
    bool away;
  };
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    constexpr Bytes kCapacity = 1000;
    SimulatedDevice device({.capacity = kCapacity, .granularity = 1});
    const auto tested = make_strategy(parse_strategy("offload(direct)"), {.device = device});
    std::deque<Block> live;  // oldest first
    Bytes bytes_moved = 0;
    std::mt19937_64 random(seed);
    const auto held = [&] {
      Bytes sum = 0;
      for (const Block& block : live) sum += block.away ? 0 : block.size;
      return sum;
    };
    const auto make_room = [&](Bytes size) {
      for (Block& block : live) {
        if (held() + size <= kCapacity) return;
        if (!block.away) bytes_moved += block.size;
        block.away = true;
      }
    };
    for (int step = 0; step < 10000; ++step) {
      if (live.size() > 30 || (!live.empty() && random() % 2)) {
        const std::size_t victim = random() % live.size();
        const Block freed = live[victim];
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
        if (freed.away) {
          make_room(freed.size);
          bytes_moved += freed.size;
        }
        tested->free(freed.handle, {});
      } else {
        const Bytes size = 1 + random() % 300;
        make_room(size);
        const auto placement = tested->allocate({.size = size});
        ASSERT_TRUE(placement);
        live.push_back({size, placement->handle, false});
      }
      ASSERT_EQ(device.usage().held, held()) << "step " << step;
      ASSERT_NEAR(tested->usage().stall_seconds, static_cast<double>(bytes_moved) / 25e9, 1e-12);
    }
  }
}

TEST(Offload, WrappersLetTheRegionsOfTheirInnerStrategyJoin) {
  for (const char* spec :
       {"offload(bfc:coalesce_regions=true)", "stalloc(bfc:coalesce_regions=true)",
        "rmm-binning(bfc:coalesce_regions=true):blocks_per_chunk=4",
        "hybrid(bump,bfc:coalesce_regions=true):static=1MiB"}) {
    EXPECT_TRUE(joins_regions(parse_strategy(spec))) << spec;
  }
}

TEST(Offload, ARequestThatNoRoomWouldHelpMovesNothing) {
  SimulatedDevice device({.capacity = 64 * kMiB});
  const auto strategy = make_strategy(parse_strategy("offload(rmm-fixed:block=1MiB)"),
                                      {.device = device, .capacity = 64 * kMiB});
  ASSERT_FALSE(strategy->allocate({.size = 2 * kMiB}));
  EXPECT_TRUE(strategy->usage().moved_out->empty());
}

}  // namespace
}  // namespace memreplay

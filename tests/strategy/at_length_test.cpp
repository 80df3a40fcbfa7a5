#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "device/simulated_device.hpp"
#include "device/watch/ledger.hpp"
#include "strategy/registered.hpp"

// Every strategy under the ledger for as long as the environment asks: the loads that the original
// BFC was measured with, on devices with and without room.

namespace memreplay {
namespace {

struct Load {
  std::size_t live_blocks;
  double smallest_log2, largest_log2;
};
constexpr Load kLoads[] = {{2'000, 6, 20}, {50'000, 6, 17}, {200, 10, 24}};

std::uint64_t operations() {
  const char* asked = std::getenv("MEMREPLAY_RANDOM_OPERATIONS");
  return asked ? std::strtoull(asked, nullptr, 10) : 20'000;
}

class Endless {
 public:
  Endless(const StrategyInfo& info, const Load& load, std::optional<Bytes> capacity)
      : load_(load),
        ledger_(info.name),
        simulated_({.capacity = capacity}),
        audited_(simulated_, ledger_),
        strategy_(
            make_strategy(parse_strategy(example_of(info)),
                          {.device = audited_, .capacity = capacity, .recorded = &settings_})) {
    if (strategy_->usage().moved_out != nullptr) ledger_.expect_moves();
  }

  void play(std::uint64_t steps) {
    std::uniform_real_distribution<double> log2(load_.smallest_log2, load_.largest_log2);
    for (; event_ < steps; ++event_) {
      const auto dice = random_() % 100'000;
      if (dice < 3) {
        strategy_->empty_cache();
        note_waiting();
      } else if (live_.size() < load_.live_blocks || dice % 2) {
        allocate(static_cast<Bytes>(std::exp2(log2(random_))));
      } else {
        free(random_() % live_.size());
      }
      if (event_ % (1 << 20) == 0) check();
    }
    check();
    while (!live_.empty()) free(live_.size() - 1);
    check();
  }

 private:
  struct Live {
    Placement placement;
    Giver giver;
    bool moved_out = false;
  };

  void note_waiting() {
    if (std::exchange(syncs_, strategy_->usage().syncs) != syncs_) ledger_.synchronised();
  }

  void note_moved_out() {
    if (strategy_->usage().moved_out == nullptr) return;
    for (const Handle moved : *strategy_->usage().moved_out) {
      const auto block = std::find_if(live_.begin(), live_.end(), [&](const Live& live) {
        return live.placement.handle == moved;
      });
      ledger_.moved_out(block->placement);
      allocated_ -= block->placement.size;
      block->moved_out = true;
    }
  }

  void allocate(Bytes size) {
    const Giver giver{static_cast<StreamIndex>(random_() % 4),
                      static_cast<std::uint32_t>(random_() % 4)};
    const Request request{.size = size, .stream = giver.stream, .thread = giver.thread};
    const auto placement = strategy_->allocate(request);
    note_waiting();
    note_moved_out();
    if (!placement) {
      // Nothing more fits: make room.
      if (!live_.empty()) free(random_() % live_.size());
      return;
    }
    ledger_.placed(event_, request, *placement);
    live_.push_back({*placement, giver});
    allocated_ += placement->size;
  }

  void free(std::size_t victim) {
    const Live block = live_[victim];
    live_[victim] = live_.back();
    live_.pop_back();
    if (!block.moved_out) {
      ledger_.freed(event_, block.placement);
      allocated_ -= block.placement.size;
    }
    strategy_->free(block.placement.handle, random_() % 8 ? block.giver : Giver{1, 1});
    note_moved_out();
  }

  void check() {
    Bytes used = 0;
    Bytes unused = 0;
    for (const SegmentInfo& segment : strategy_->memory_state().segments) {
      for (const BlockInfo& block : segment.blocks) {
        (block.state == BlockState::free ? unused : used) += block.size;
      }
    }
    ASSERT_EQ(used, allocated_);
    ASSERT_EQ(strategy_->free_space().total, unused);
    ASSERT_GE(simulated_.usage().held, allocated_);
  }

  Load load_;
  RecordedSettings settings_;
  Ledger ledger_;
  SimulatedDevice simulated_;
  HeardDevice audited_;
  std::unique_ptr<Strategy> strategy_;
  std::mt19937_64 random_;
  std::vector<Live> live_;
  Bytes allocated_ = 0;
  std::uint64_t event_ = 0;
  std::uint64_t syncs_ = 0;
};

class EveryStrategyAtLength : public testing::TestWithParam<std::size_t> {};

TEST_P(EveryStrategyAtLength, KeepsTheLedgerSilent) {
  const StrategyInfo& info = strategies()[GetParam()];
  for (const Load& load : kLoads) {
    for (const std::optional<Bytes> capacity : {std::optional<Bytes>(), std::optional(kGiB)}) {
      SCOPED_TRACE(load.live_blocks);
      Endless endless(info, load, capacity);
      ASSERT_NO_THROW(endless.play(operations() / 6));
      if (HasFatalFailure()) return;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Registry, EveryStrategyAtLength,
                         testing::ValuesIn(strategies_to_simulate()), strategy_name);

}  // namespace
}  // namespace memreplay

#include "strategy/torch/statistics.hpp"

#include <gtest/gtest.h>

#include <random>

namespace memreplay::torch {
namespace {

/// Sums and peaks, each kept by itself.
struct PlainSums {
  std::array<std::int64_t, 2> now = {};
  std::array<std::int64_t, 2> peaks = {};
  std::int64_t peak = 0;

  void change(bool small, std::int64_t by) {
    now[small] += by;
    peaks[small] = std::max(peaks[small], now[small]);
    peak = std::max(peak, now[0] + now[1]);
  }
};

TEST(TorchStatistics, ThePeaksOfEachPoolAndOfAllAreThoseOfPlainSums) {
  std::mt19937_64 random(1);
  PooledStat tested;
  PlainSums sums;
  for (int step = 0; step < 100'000; ++step) {
    const bool small = random() % 3 != 0;
    const auto amount = static_cast<std::int64_t>(random() % (small ? 100 : 10'000));
    const std::int64_t by = random() % 2 == 0 ? amount : -std::min(amount, sums.now[small]);
    sums.change(small, by);
    if (random() % 2 == 0) {
      tested.change(small, by);
    } else if (by > 0) {
      tested.increase(small, static_cast<Bytes>(by));
    } else {
      tested.decrease(small, static_cast<Bytes>(-by));
    }
    ASSERT_EQ(tested.current(), sums.now[0] + sums.now[1]);
    ASSERT_EQ(tested.peak, sums.peak) << step;
    ASSERT_EQ(tested.of_pool[small].peak, sums.peaks[small]) << step;
  }
}

TEST(TorchStatistics, WhatIsPendingIsActiveUntilItIsComplete) {
  std::mt19937_64 random(2);
  LiveStat tested;
  PlainSums live;
  PlainSums active;
  for (int step = 0; step < 100'000; ++step) {
    const bool small = random() % 2 == 0;
    const auto amount = static_cast<std::int64_t>(random() % 1000);
    const std::int64_t pending = active.now[small] - live.now[small];
    if (random() % 2 == 0) {
      tested.increase(small, static_cast<Bytes>(amount));
      live.change(small, amount);
      active.change(small, amount);
    } else if (amount <= live.now[small] && random() % 2 == 0) {
      tested.decrease_later(small, static_cast<Bytes>(amount));
      live.change(small, -amount);
    } else if (amount <= live.now[small]) {
      tested.decrease(small, static_cast<Bytes>(amount));
      live.change(small, -amount);
      active.change(small, -amount);
    } else {
      tested.change_pending(small, -pending);
      active.change(small, -pending);
    }
    ASSERT_EQ(tested.peak, live.peak) << step;
    ASSERT_EQ(tested.active_peak, active.peak) << step;
    ASSERT_EQ(tested.of_pool[small].peak, live.peaks[small]) << step;
    ASSERT_EQ(tested.pending[small].active_peak, active.peaks[small]) << step;
    ASSERT_EQ(tested.active(), active.now[0] + active.now[1]);
  }
}

}  // namespace
}  // namespace memreplay::torch

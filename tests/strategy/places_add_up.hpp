#pragma once

#include <gtest/gtest.h>

#include <initializer_list>
#include <random>
#include <utility>
#include <vector>

#include "device/simulated_device.hpp"
#include "strategy/strategy.hpp"
#include "support/counter_of.hpp"

namespace memreplay {

/// Random requests of three threads, of up to 2^(6 + exponents) bytes. At every hundredth the live
/// blocks and what the counters named `places` say are all that the device holds.
inline void expect_places_add_up(Strategy& strategy, const SimulatedDevice& device, int steps,
                                 unsigned exponents, std::initializer_list<const char*> places) {
  std::mt19937_64 random(3);
  std::vector<Placement> live;
  for (int step = 0; step < steps; ++step) {
    const auto thread = static_cast<std::uint32_t>(random() % 3);
    if (live.empty() || random() % 100 < 51) {
      live.push_back(*strategy.allocate(
          {.size = 1 + random() % (Bytes{1} << (6 + random() % exponents)), .thread = thread}));
    } else {
      std::swap(live[random() % live.size()], live.back());
      strategy.free(live.back().handle, {0, thread});
      live.pop_back();
    }
    if (step % 100 != 0) continue;
    Bytes sum = 0;
    for (const Placement& block : live) sum += block.size;
    for (const char* place : places) {
      ASSERT_GE(counter_of(strategy, place), 0);
      sum += static_cast<Bytes>(counter_of(strategy, place));
    }
    ASSERT_EQ(sum, device.usage().held);
  }
}

}  // namespace memreplay

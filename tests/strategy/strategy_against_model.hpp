#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "device/simulated_device.hpp"
#include "strategy/registry.hpp"

namespace memreplay {

/// A strategy written down as plainly as it can be, without any thought for speed. Addresses count
/// from the first one of the device.
class SlowModel {
 public:
  virtual ~SlowModel() = default;
  virtual std::optional<Bytes> allocate(Bytes size, Bytes alignment) = 0;
  virtual void free(Bytes address) = 0;
};

struct RandomRequests {
  std::uint64_t seed = 0;
  int steps = 3000;
  std::size_t live_at_most = 60;
  std::optional<Bytes> capacity = {};
};

/// Both see the same random requests and must give the same addresses, or none.
inline void expect_same_placements(std::string_view strategy, SlowModel& model,
                                   const RandomRequests& requests) {
  SimulatedDevice device({.capacity = requests.capacity, .granularity = 1});
  const auto tested =
      make_strategy(parse_strategy(strategy), {.device = device, .capacity = requests.capacity});
  constexpr Address kBase = Address{1} << 44;
  std::mt19937_64 random(requests.seed);
  std::vector<std::pair<Handle, Bytes>> live;
  for (int step = 0; step < requests.steps; ++step) {
    if (live.size() >= requests.live_at_most || (!live.empty() && random() % 2)) {
      const std::size_t victim = random() % live.size();
      tested->free(live[victim].first);
      model.free(live[victim].second);
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      continue;
    }
    const Bytes size = 1 + random() % 900;
    const Bytes alignment = random() % 4 ? 1 : Bytes{1} << random() % 9;
    const auto got = tested->allocate({.size = size, .alignment = alignment});
    const auto expected = model.allocate(size, alignment);
    ASSERT_EQ(got.has_value(), expected.has_value()) << "step " << step;
    if (!got) continue;
    ASSERT_EQ(got->address - kBase, *expected) << "step " << step;
    live.emplace_back(got->handle, *expected);
  }
}

}  // namespace memreplay

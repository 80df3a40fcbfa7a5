#pragma once

#include <gtest/gtest.h>

#include <cmath>
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
  virtual std::optional<Bytes> allocate(const Request& request) = 0;
  virtual void free(Bytes address, const FreeOrigin& giver) = 0;
  virtual void empty_cache() {}
  virtual void marker() {}
  /// Bytes held from the device; unset: not to be compared.
  virtual std::optional<Bytes> reserved() const { return std::nullopt; }
};

/// Sizes are even in the exponent. A hundredth of the steps is for the calls that most do without.
struct RandomRequests {
  std::uint64_t seed = 0;
  int steps = 3000;
  std::size_t live_at_most = 60;
  std::optional<Bytes> capacity = {};
  Bytes granularity = 1;
  double smallest = 1;  ///< bytes
  double largest = 900;
  int streams = 1;
  int threads = 1;
  bool strange_givers = false;  ///< blocks are freed by other streams and threads too
  bool aligned = true;          ///< some requests say an alignment
  bool empty_caches = false;
  bool markers = false;
};

/// Both see the same random requests and must give the same addresses, or none, and hold the same.
inline void expect_same_placements(std::string_view strategy, SlowModel& model,
                                   const RandomRequests& requests) {
  SimulatedDevice device({.capacity = requests.capacity, .granularity = requests.granularity});
  const auto tested =
      make_strategy(parse_strategy(strategy), {.device = device, .capacity = requests.capacity});
  constexpr Address kBase = Address{1} << 44;
  struct Live {
    Handle handle;
    Bytes address;
    FreeOrigin giver;
  };
  std::mt19937_64 random(requests.seed);
  std::uniform_real_distribution<double> log2(std::log2(requests.smallest),
                                              std::log2(requests.largest));
  const auto some_giver = [&] {
    return FreeOrigin{static_cast<StreamIndex>(random() % requests.streams),
                      static_cast<std::uint32_t>(random() % requests.threads)};
  };
  std::vector<Live> live;
  for (int step = 0; step < requests.steps; ++step) {
    const auto dice = random() % 200;
    if (dice == 0 && requests.empty_caches) {
      tested->empty_cache();
      model.empty_cache();
    } else if (dice == 1 && requests.markers) {
      if (ProgramSteps* steps = tested->abilities().steps) steps->marker();
      model.marker();
    } else if (live.size() >= requests.live_at_most || (!live.empty() && random() % 2)) {
      const std::size_t victim = random() % live.size();
      const Live block = live[victim];
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      const FreeOrigin giver =
          requests.strange_givers && random() % 4 == 0 ? some_giver() : block.giver;
      tested->free(block.handle, giver);
      model.free(block.address, giver);
    } else {
      const FreeOrigin giver = some_giver();
      Request request{.size = static_cast<Bytes>(std::exp2(log2(random))),
                      .stream = giver.stream,
                      .thread = giver.thread};
      request.alignment = !requests.aligned || random() % 4 ? 1 : Bytes{1} << random() % 9;
      const auto got = tested->allocate(request);
      const auto expected = model.allocate(request);
      ASSERT_EQ(got.has_value(), expected.has_value()) << "step " << step;
      if (got) {
        ASSERT_EQ(got->address - kBase, *expected) << "step " << step;
        live.push_back({got->handle, *expected, giver});
      }
    }
    if (const auto reserved = model.reserved()) {
      ASSERT_EQ(device.usage().held, *reserved) << "step " << step;
    }
  }
}

/// A strategy under some options, and what its model has to know of them.
template <typename Shape>
struct ModelCase {
  const char* spec;
  Shape shape;
  std::optional<Bytes> capacity;
};

/// The strategy and a `Model(shape, capacity)` agree on every case, with so many seeds each.
template <typename Model, typename Shape>
void expect_agreement(const std::vector<ModelCase<Shape>>& cases, std::uint64_t seeds,
                      RandomRequests requests) {
  for (const ModelCase<Shape>& tested : cases) {
    SCOPED_TRACE(tested.spec);
    requests.capacity = tested.capacity;
    for (requests.seed = 0; requests.seed < seeds; ++requests.seed) {
      Model model(tested.shape, tested.capacity);
      expect_same_placements(tested.spec, model, requests);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

}  // namespace memreplay

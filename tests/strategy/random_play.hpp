#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <random>
#include <string_view>
#include <vector>

#include "device/simulated_device.hpp"
#include "strategy/registry.hpp"
#include "support/counter_of.hpp"

namespace memreplay {

/// What a random event left behind, for a look at an invariant.
struct Played {
  Strategy& strategy;
  const SimulatedDevice& device;
  const Request* request = nullptr;      ///< null: the event was a free
  std::optional<Placement> placement{};  ///< the request's
  Bytes live_bytes = 0;                  ///< as charged

  std::int64_t counter(std::string_view name) const { return counter_of(strategy, name); }
};

struct RandomPlay {
  int events = 4000;
  Bytes largest = 1000;
  std::size_t live_at_most = 50;
  int streams = 1;
  std::optional<Bytes> capacity = {};
  bool strange_givers = false;
};

/// Requests and frees at random; `look(Played)` after each. At the end everything is freed.
template <typename Look>
void play_at_random(std::string_view spec, const RandomPlay& play, const Look& look) {
  SimulatedDevice device({.capacity = play.capacity, .granularity = 1});
  const auto strategy =
      make_strategy(parse_strategy(spec), {.device = device, .capacity = play.capacity});
  struct Live {
    Placement placement;
    StreamIndex stream;
  };
  std::vector<Live> live;
  Bytes live_bytes = 0;
  std::mt19937_64 random(7);
  const auto some_stream = [&] { return static_cast<StreamIndex>(random() % play.streams); };
  for (int event = 0; event < play.events || !live.empty(); ++event) {
    const bool ends = event >= play.events;
    if (!ends && (live.empty() || (live.size() < play.live_at_most && random() % 2))) {
      const Request request{.size = 1 + random() % play.largest, .stream = some_stream()};
      const auto placement = strategy->allocate(request);
      if (placement) {
        live.push_back({*placement, request.stream});
        live_bytes += placement->size;
      }
      look(Played{*strategy, device, &request, placement, live_bytes});
    } else {
      const std::size_t victim = random() % live.size();
      const Live block = live[victim];
      live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      live_bytes -= block.placement.size;
      strategy->free(block.placement.handle,
                     {.stream = play.strange_givers ? some_stream() : block.stream});
      look(Played{*strategy, device, nullptr, std::nullopt, live_bytes});
    }
    if (testing::Test::HasFatalFailure()) return;
  }
}

}  // namespace memreplay

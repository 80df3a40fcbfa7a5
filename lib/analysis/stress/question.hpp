#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/recorded/inputs.hpp"
#include "analysis/run/setup.hpp"

namespace memreplay {

/// What margin is enough, were the same steps to come in other orders?
struct StressQuestion {
  std::vector<StrategySpec> strategies;  ///< empty: that of the recording
  Setup setup;
  std::optional<std::uint64_t> orders;  ///< unset: see kOrders
  std::uint64_t seed = 1;
  std::uint64_t in_flight = 1;               ///< steps at once
  std::optional<std::uint64_t> step_events;  ///< events in a step; unset: as recorded
  const Inputs* with = nullptr;              ///< whose steps come too; null: none
  unsigned threads = 1;
};

}  // namespace memreplay

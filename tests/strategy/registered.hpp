#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "strategy/registry.hpp"

namespace memreplay {

/// How the strategy is written at its shortest.
inline std::string example_of(const StrategyInfo& info) {
  return std::string(info.example.empty() ? info.name : info.example);
}

/// The numbers of all that a simulated device can have, but for those that cannot be made without a
/// plan of the very requests.
inline std::vector<std::size_t> strategies_to_simulate() {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < strategies().size(); ++i) {
    const StrategyInfo& info = strategies()[i];
    if (!info.needs_plan && info.needs_device.empty()) numbers.push_back(i);
  }
  return numbers;
}

/// Names the tests over those numbers.
inline std::string strategy_name(const testing::TestParamInfo<std::size_t>& tested) {
  std::string name(strategies()[tested.param].name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace memreplay

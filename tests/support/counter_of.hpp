#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "strategy/strategy.hpp"

namespace memreplay {

/// A counter of the strategy's own; a failure where it has none of that name.
inline std::int64_t counter_of(const Strategy& strategy, std::string_view name) {
  const Testimony testimony = strategy.testimony();
  for (const auto& [key, value] : testimony.counters) {
    if (key == name) return value;
  }
  ADD_FAILURE() << "no counter " << name;
  return -1;
}

}  // namespace memreplay

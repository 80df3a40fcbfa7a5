#pragma once

#include <map>
#include <optional>

#include "core/units.hpp"

namespace memreplay {

/// What a simulated device does, for slow models. Addresses count from its first one and are not
/// given twice.
struct SlowDevice {
  std::optional<Bytes> capacity = {};
  Bytes granularity = 1;

  std::optional<Bytes> obtain(Bytes size) {
    const Bytes charge = round_up(size, granularity);
    if (capacity && held() + charge > *capacity) return std::nullopt;
    const Bytes at = next;
    regions[at] = charge;
    next += round_up(charge, 2 * kMiB);
    return at;
  }
  Bytes held() const {
    Bytes sum = 0;
    for (const auto& [at, charge] : regions) sum += charge;
    return sum;
  }

  std::map<Bytes, Bytes> regions = {};
  Bytes next = 0;
};

}  // namespace memreplay

#pragma once

#include <algorithm>
#include <map>
#include <optional>

#include "core/units.hpp"

namespace memreplay {

/// What a simulated device does, for slow models: addresses count from its first one and are never
/// given twice.
struct SlowDevice {
  std::optional<Bytes> capacity = {};
  Bytes granularity = 1;
  Bytes held = 0;
  Bytes next = 0;
  std::map<Bytes, Bytes> regions = {};  ///< address -> bytes charged

  std::optional<Bytes> obtain(Bytes size) {
    const Bytes charge = round_up(size, granularity);
    if (capacity && held + charge > *capacity) return std::nullopt;
    held += charge;
    const Bytes at = next;
    regions[at] = charge;
    next += round_up(charge, std::max<Bytes>(granularity, 256));
    return at;
  }
  void give_back(Bytes size) { held -= round_up(size, granularity); }
  void give_back_at(Bytes address) {
    held -= regions.at(address);
    regions.erase(address);
  }
};

}  // namespace memreplay

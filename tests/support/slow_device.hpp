#pragma once

#include <algorithm>
#include <optional>

#include "core/units.hpp"

namespace memreplay {

/// A device as a slow model sees it: addresses count from 0 and are never given twice.
struct SlowDevice {
  std::optional<Bytes> capacity = {};
  Bytes granularity = 1;
  Bytes held = 0;
  Bytes next = 0;

  std::optional<Bytes> obtain(Bytes size) {
    const Bytes charge = round_up(size, granularity);
    if (capacity && held + charge > *capacity) return std::nullopt;
    held += charge;
    const Bytes at = next;
    next += round_up(charge, std::max(granularity, 2 * kMiB));
    return at;
  }
  void give_back(Bytes size) { held -= round_up(size, granularity); }
};

}  // namespace memreplay

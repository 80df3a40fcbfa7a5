#pragma once

#include <algorithm>
#include <cstdint>

#include "core/units.hpp"

namespace memreplay {

/// Free bytes inside what the strategy holds.
struct FreeSpace {
  Bytes total = 0;
  Bytes largest = 0;  ///< the largest single hole
  /// What it may still take from the device by a limit of its own.
  Bytes obtainable = UINT64_MAX;

  /// With the holes of another part of the same strategy.
  void add(const FreeSpace& part) {
    total += part.total;
    largest = std::max(largest, part.largest);
  }

  friend bool operator==(const FreeSpace&, const FreeSpace&) = default;
};

}  // namespace memreplay

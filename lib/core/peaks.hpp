#pragma once

#include <cstdint>
#include <optional>

#include "core/units.hpp"

namespace memreplay {

/// A moment of a run at which most was live, or most was reserved.
struct Peak {
  std::optional<std::uint64_t> event;  ///< it is right after this; unset: before the first event
  Bytes requested = 0;                 ///< by live blocks
  Bytes reserved = 0;
};

/// Follows what is live and reserved for the moments of the most of each.
class Peaks {
 public:
  /// To be called for every moment in turn. O(1).
  void note(std::optional<std::uint64_t> event, Bytes requested, Bytes reserved) {
    if (fresh_ || requested > live_.requested) live_ = {event, requested, reserved};
    // Where a cache is full, most is reserved for long: what is live then tells the moments apart.
    const bool fuller = reserved == reserved_.reserved && requested > reserved_.requested;
    if (fresh_ || reserved > reserved_.reserved || fuller) reserved_ = {event, requested, reserved};
    fresh_ = false;
  }

  /// The first moment at which most was requested.
  const Peak& live() const { return live_; }
  /// The first moment of most reserved; of several, the one with most requested.
  const Peak& reserved() const { return reserved_; }

 private:
  bool fresh_ = true;
  Peak live_;
  Peak reserved_;
};

}  // namespace memreplay

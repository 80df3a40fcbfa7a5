#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/explain/moment.hpp"
#include "analysis/recorded/places.hpp"

namespace memreplay {

/// Free memory that cannot be returned to the device because live blocks lie beside it, counted for
/// the code place of the oldest block of its segment.
struct Pin {
  std::string place;
  Bytes pinned = 0;
  std::uint64_t segments = 0;
  std::uint64_t blocks = 0;  ///< live ones of this place in these segments
  std::optional<std::uint64_t>
      oldest;  ///< event of its oldest block; nothing: from before the trace
};

struct Pins {
  std::vector<Pin> by_place;  ///< the oldest first
  Bytes pinned = 0;           ///< their sum
  Bytes returnable = 0;       ///< free memory that could be returned: whole segments and granules
};

/// O(blocks log blocks). `expandable_granule`: the unit in which mapped runs give memory back.
Pins pins_of(const Moment& moment, const Places& places, Bytes expandable_granule);

}  // namespace memreplay

#pragma once

#include "analysis/explain/answer.hpp"
#include "analysis/explain/moment.hpp"
#include "analysis/recorded/places.hpp"

namespace memreplay {

/// O(blocks log blocks). `expandable_granule`: the unit in which mapped runs give memory back.
Pins pins_of(const Moment& moment, const Places& places, Bytes expandable_granule);

}  // namespace memreplay

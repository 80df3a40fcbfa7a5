#pragma once

#include <cstddef>
#include <optional>

#include "analysis/recorded/inputs.hpp"

namespace memreplay {

/// What do the recordings cover, and can they be trusted?
struct InfoQuestion {
  InputOptions input;
  std::optional<Selector> select;     ///< blocks to be looked at
  std::optional<std::size_t> points;  ///< points of each curve as recorded; unset: no curves
};

}  // namespace memreplay

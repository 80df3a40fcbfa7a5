#pragma once

#include <optional>

#include "metrics/run_metrics.hpp"

namespace memreplay {

/// Bounds of a run that the recording does not determine.
struct RunInterval {
  BytesInterval peak_reserved;
  BytesInterval end_reserved;
  std::optional<BytesInterval> peak_requested = {};  ///< unset: the recording determines it
};

}  // namespace memreplay

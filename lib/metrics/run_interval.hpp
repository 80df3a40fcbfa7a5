#pragma once

#include "metrics/run_metrics.hpp"

namespace memreplay {

/// Bounds of a run that the recording does not determine.
struct RunInterval {
  BytesInterval peak_reserved;
  BytesInterval end_reserved;
};

}  // namespace memreplay

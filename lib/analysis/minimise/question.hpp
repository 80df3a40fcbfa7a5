#pragma once

#include <cstdint>

namespace memreplay {

enum class Keep {
  automatic,  ///< the first OOM, or the gap where there is none
  oom,
  gap,
};

/// Which small trace shows the same under a strategy?
struct MinimiseQuestion {
  Keep keep = Keep::automatic;
  /// Events that may be replayed, and some for each replay. What there is by then is the answer.
  std::uint64_t budget = 400'000'000;
};

}  // namespace memreplay

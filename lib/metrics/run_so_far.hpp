#pragma once

#include <cstdint>

#include "core/units.hpp"

namespace memreplay {

/// What a replay came to so far; none of it ever falls.
struct RunSoFar {
  std::uint64_t ooms = 0;
  std::uint64_t oom_retries = 0;
  Bytes peak_reserved = 0;
  std::uint64_t device_calls = 0;
};

}  // namespace memreplay

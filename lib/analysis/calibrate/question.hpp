#pragma once

#include <chrono>
#include <cstdint>

#include "core/units.hpp"

namespace memreplay {

/// What do the calls to a driver cost?
struct CalibrateQuestion {
  Bytes largest = kGiB;        ///< size that is tried, where half of the memory has room for it
  std::uint64_t repeats = 32;  ///< calls of each kind and size
  std::chrono::milliseconds work{20};  ///< under which it is seen who waits; outlasts a call by far
};

}  // namespace memreplay

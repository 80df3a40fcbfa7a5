#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/call_times.hpp"
#include "core/real_use.hpp"
#include "core/units.hpp"

namespace memreplay {

/// What do the calls to a driver cost?
struct CalibrateQuestion {
  Bytes largest = kGiB;        ///< size that is tried, where half of the memory has room for it
  std::uint64_t repeats = 32;  ///< calls of each kind and size
  std::chrono::milliseconds work{20};  ///< under which it is seen who waits; outlasts a call by far
};

struct Control;
class RealMemory;

/// Calls of one size.
struct SizedTimes {
  Bytes bytes = 0;
  Durations times;
};

/// One of the calls that strategies make.
struct CalibratedCall {
  std::vector<SizedTimes> sizes;  ///< ascending
  /// Whether the call waits for work under way on the device; unset: the device does none beside
  /// the host, or finished too soon to tell.
  std::optional<bool> waits;
};

/// What the calls to a driver cost: by the host's clock, with nothing else under way.
struct Calibration {
  CalibratedCall alloc;
  CalibratedCall free;
  CalibratedCall map;    ///< one piece: create, map and allow access
  CalibratedCall unmap;  ///< one piece: unmap and destroy
  bool finished = true;  ///< false: stopped

  /// Every call with its name in reports and profiles.
  std::array<std::pair<const char*, const CalibratedCall*>, 4> calls() const {
    return {{{"alloc", &alloc}, {"free", &free}, {"map", &map}, {"unmap", &unmap}}};
  }
};

/// What the calls to the driver of a device cost.
struct CalibrateAnswer {
  RealMemoryFacts device;
  Calibration calibration;
};

/// Measures every call. Throws DeviceError where the driver fails. Everything is given back.
CalibrateAnswer answer(RealMemory& memory, const CalibrateQuestion& question,
                       const Control& control);

}  // namespace memreplay

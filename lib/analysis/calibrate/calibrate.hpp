#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "device/cost_model.hpp"
#include "device/real/real_memory.hpp"

namespace memreplay {

struct CalibrationOptions {
  Bytes largest = kGiB;        ///< size that is tried, where half of the memory has room for it
  std::uint64_t repeats = 32;  ///< calls of each kind and size
  std::chrono::milliseconds work{20};  ///< under which it is seen who waits; outlasts a call by far
  const std::atomic<bool>* cancelled = nullptr;
  std::function<void(double)> progress;  ///< share done
};

/// Calls of one size.
struct SizedTimes {
  Bytes bytes = 0;
  Durations times;
};

/// One of the calls that strategies make.
struct CalibratedCall {
  std::vector<SizedTimes> sizes;  ///< ascending
  /// Whether the call waits for work that the device has under way; nothing: the device does none
  /// beside the host, or was done too soon to tell.
  std::optional<bool> waits;

  /// The medians; the cost 0 where nothing was measured.
  CostCurve curve() const;
};

/// What the calls to a driver cost: by the host's clock, with nothing else under way.
struct Calibration {
  CalibratedCall alloc;
  CalibratedCall free;
  CalibratedCall map;    ///< of one piece: create, map and allow access
  CalibratedCall unmap;  ///< of one piece: unmap and destroy
  bool finished = true;  ///< false: cancelled

  CostModel model() const { return {alloc.curve(), free.curve(), map.curve(), unmap.curve()}; }
};

/// Throws DeviceError where the driver fails. Everything is given back.
Calibration calibrate(RealMemory& memory, const CalibrationOptions& options);

}  // namespace memreplay

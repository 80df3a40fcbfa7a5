#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/units.hpp"
#include "trace/trace.hpp"

namespace memreplay {

// The limits of a recording; one request is below kMostBytes, and all blocks of a device, one after
// the other, come to kBeyondDevices at most. Within them no sum, difference or rounding up of its
// numbers overflows.
inline constexpr Bytes kMostAlignment = Bytes{1} << 40;
inline constexpr std::int64_t kMostTime = std::int64_t{1} << 62;  ///< microseconds, either way
inline constexpr int kMostDevices = 1024;

/// Where a trace contradicts itself, or leaves the limits.
struct Fault {
  std::string place;  ///< "event 12"; empty: of no event
  std::string what;   ///< "the free of a block that is free already"
};

/// The first fault of a trace; unset: replays, models and reports may take it as it is. That is:
/// columns of one length; every block is allocated, requested to be freed and freed in this order,
/// or was there before and is freed once; segments are obtained where none is and returned as they
/// are; the start and the end are segments apart from each other, tiled by their blocks. O(1) an
/// event, O(log segments) an event of the driver.
std::optional<Fault> fault_in(const Trace& trace);

/// As `fault_in`, for a trace whose events come in pieces.
class TraceGate {
 public:
  /// Its columns are not looked at; its lanes and slots may become more. `trace` outlives this.
  explicit TraceGate(const Trace& trace);
  ~TraceGate();

  /// The first fault of the trace, or in these events, which come next. Not to be asked again after
  /// a fault.
  std::optional<Fault> fault_in(const EventColumns& events);

 private:
  class Walk;
  std::unique_ptr<Walk> walk_;
  std::optional<Fault> fault_before_;  ///< the first event
};

/// The gate after every reader: a reader repairs and counts what its format may get wrong, what
/// then is still at fault is refused here. Throws InputError "FILE: gpu 0, event 12: …".
void check_recording(const Recording& recording);

}  // namespace memreplay

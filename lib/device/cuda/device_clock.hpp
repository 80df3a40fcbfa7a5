#pragma once

#include <vector>

#include "device/cuda/driver_api.hpp"
#include "core/call_times.hpp"

namespace memreplay {

/// Times between two points of a stream, by the device's own clock. They are read late, so that
/// measuring does not make the host wait.
class DeviceClock {
 public:
  explicit DeviceClock(const DriverApi& driver) : driver_(driver) {}
  ~DeviceClock();
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;

  void start(CUstream stream);
  void stop(CallKind kind);
  void collect(TimesByKind& times);

 private:
  struct Interval {
    CUevent from = nullptr;
    CUevent to = nullptr;
    CallKind kind = CallKind::alloc;
  };
  void read();

  const DriverApi& driver_;
  std::vector<Interval> intervals_;  ///< used again from the first once they were read
  std::size_t unread_ = 0;           ///< at the start of `intervals_`
  bool started_ = false;
  CUstream stream_ = nullptr;
  TimesByKind times_;  ///< read and not collected
};

}  // namespace memreplay

#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "core/call_times.hpp"

namespace memreplay {

/// How long a strategy took for requests and frees, by the host's clock.
struct OpTimes {
  Durations whole;     ///< with the driver's calls, without what a real device does beside them
  Durations strategy;  ///< without anything that the device did
  /// What the device took so far, and of that the driver's calls; null: nothing that counts.
  const std::uint64_t* device_ns = nullptr;
  const std::uint64_t* driver_ns = nullptr;
};

/// From its making to its end one request or free.
class OpTimer {
 public:
  explicit OpTimer(OpTimes& times)
      : times_(times),
        device_ns_(now(times.device_ns)),
        driver_ns_(now(times.driver_ns)),
        began_(std::chrono::steady_clock::now()) {}
  ~OpTimer() {
    const auto took = std::chrono::steady_clock::now() - began_;
    const auto ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(took).count());
    const std::uint64_t own = ns - std::min(ns, now(times_.device_ns) - device_ns_);
    times_.strategy.add(own);
    times_.whole.add(own + now(times_.driver_ns) - driver_ns_);
  }
  OpTimer(const OpTimer&) = delete;
  OpTimer& operator=(const OpTimer&) = delete;

 private:
  static std::uint64_t now(const std::uint64_t* counter) { return counter ? *counter : 0; }

  OpTimes& times_;
  std::uint64_t device_ns_;
  std::uint64_t driver_ns_;
  std::chrono::steady_clock::time_point began_;
};

}  // namespace memreplay

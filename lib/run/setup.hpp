#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "device/cost_model.hpp"
#include "device/real/touch_pattern.hpp"
#include "device/simulated_device.hpp"
#include "replay/replay.hpp"
#include "run/answer.hpp"

namespace memreplay {

/// An event number, or a time since the first event.
struct TracePoint {
  std::uint64_t event = 0;
  std::optional<double> seconds;
};

/// One device to replay on.
struct DeviceChoice {
  enum class Kind { sim, host, cuda };
  Kind kind = Kind::sim;
  int ordinal = 0;           ///< for cuda only
  std::string text = "sim";  ///< as it was asked for: "cuda:0"
};

/// The program passes a configuration string to PyTorch's allocator when a phase begins, and what
/// it began with when the phase ends.
struct PhaseSetting {
  std::string conf;
  std::string phase;  ///< a scope that the recording annotates, every time it comes
};

/// How a recording is replayed: on what, and all else that decides over the
/// figures of a run but the strategy. What is unset is as usual.
struct Setup {
  std::string release;     ///< PyTorch's; empty: see Subject::with_release
  std::uint64_t uses = 1;  ///< how often a block is used after it was moved out
  std::vector<PhaseSetting> phase_settings;
  std::vector<DeviceChoice> devices;  ///< empty: a simulated one
  /// The device's. Unset: that of a recorded failure; else never full, or what a real device has.
  std::optional<Bytes> capacity;
  bool endless = false;              ///< never full, whatever was recorded
  std::optional<Bytes> reserve;      ///< held by others, in the capacity
  std::optional<Bytes> granularity;  ///< above 0
  std::optional<AddressPolicy> address_policy;
  std::optional<Bytes> address_gap;
  std::optional<Bytes> address_space;
  std::vector<OtherTenant> tenants;  ///< for a simulated one only
  std::optional<Touch> touch;        ///< unset: what is usual on the device
  CostModel cost;
  Bytes scale = 1;  ///< sizes are divided by it
  bool paced = false;
  std::optional<TracePoint> from;
  std::optional<TracePoint> to;
  StartMode start = StartMode::automatic;
  bool ignore_empty_cache = false;
  bool stop_at_oom = false;
  bool audit = false;
  bool oom_report = false;               ///< keep what the original prints at the first OOM
  std::optional<std::uint64_t> warm_up;  ///< replays before those that count; unset: as usual
  std::uint64_t repeat = 1;              ///< replays that count; their times are taken together
  std::optional<std::size_t> points;     ///< points of each curve; unset: no picture

  /// Who asks for no other device means that of the recording.
  LikeRecorded like_recorded() const;
  /// The simulated device that is asked for; what is unset is as usual. Throws UsageError.
  SimulatedDeviceOptions simulated() const;
};

}  // namespace memreplay

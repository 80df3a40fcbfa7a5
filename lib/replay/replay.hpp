#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/call_times.hpp"
#include "core/other_tenant.hpp"
#include "core/request.hpp"
#include "device/cost_model.hpp"
#include "device/device_model.hpp"
#include "device/real/touch_pattern.hpp"
#include "device/simulated_device.hpp"
#include "device/watch/watcher.hpp"
#include "metrics/run_metrics.hpp"
#include "replay/program.hpp"
#include "strategy/play.hpp"
#include "strategy/strategy.hpp"
#include "verify/reading.hpp"

namespace memreplay {

class RealMemory;

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

/// Brings a strategy to the first event of a trace in some other way than by its start state, and
/// fills in, by slot, where the blocks of that state came to lie; those of no handle found no room.
/// Says how many requests on the way there found none.
using Beginning =
    std::function<std::uint64_t(Strategy&, DeviceModel&, std::span<Placement> by_slot)>;

/// What ends a replay before its last event, and who hears how far it is.
struct Stops {
  bool at_oom = false;
  /// Asked when the reserved peak grew; true ends the replay.
  std::function<bool(const RunSoFar&)> hopeless;
  const std::atomic<bool>* cancelled = nullptr;
  std::function<void(double)> progress;  ///< share done, now and then
};

struct Measuring {
  std::uint64_t from = 0;   ///< events before it are played but not measured
  bool oom_report = false;  ///< keep what the original would print at the first OOM
};

/// What may be asked of a replay, whatever the strategy is.
struct ReplayOptions {
  ProgramOptions program;
  Stops stops;
  Measuring measuring;
  Beginning begin_with;        ///< where the program does not start cold
  Watcher* watcher = nullptr;  ///< a ledger needs the strategy to be over its HeardDevice
  bool paced = false;          ///< events do not come before their recorded time
  bool testimony = true;       ///< the strategy's own counters and remarks are asked for

  // The device, for who makes one.
  SimulatedDeviceOptions device;
  RealMemory* memory = nullptr;  ///< replaces `device`, but for its capacity and reserve; null:
                                 ///< simulate
  Touch touch = Touch::none;     ///< on real memory
  bool timed = false;            ///< every operation, and every call to a driver
  CostModel cost;                ///< costs of a simulated device's calls
  bool audit = false;            ///< the ledger judges every placement
  bool log_device = false;       ///< every call to the device is written down
  bool watch_capacity = false;   ///< what the outcome depends on is noted

  // The strategy, for who makes one.
  std::uint64_t uses = 1;     ///< uses of a block after it was moved out
  bool sleeps_unseen = true;  ///< pools that may have slept do while others ask for memory
  /// By event, of PyTorch's allocator alone; empty: `recorded` makes those of the recording.
  std::vector<SettingsCall> settings_calls;
};

/// What a replay summed up so far.
struct Sums {
  Tally tally;
  DeviceUsage built;  ///< before the first call
  DeviceUsage usage_before;
  StrategyUsage strategy_before;
  double seconds_before = 0;
  RunMetrics metrics;
};

/// A replay as it stands before an event, but for its strategy and device.
struct Midway {
  std::uint64_t event = 0;
  std::size_t next_act = 0;
  bool started_exact = true;
  std::uint64_t refused_before = 0;
  Sums sums;
  std::vector<Placement> blocks;  ///< by slot
  std::vector<Placement> parked;
};

/// What a replay is connected to where its device and strategy were made for it.
struct Attached {
  bool adopt_start = false;  ///< the strategy takes over the recorded start state as it was
  const double* device_seconds = nullptr;  ///< modelled, so far; null: not modelled call by call
  OpTimes* times = nullptr;                ///< filled in, where each operation is to be timed
  std::uint64_t* event = nullptr;          ///< kept at the event under way, where somebody asks
  std::vector<TenantChange> tenant_changes = {};  ///< by event
  std::function<void(Bytes)> let_others_hold;     ///< hears of each when it is due
  const Midway* from = nullptr;     ///< where strategy and device stand; null: at the beginning
  std::uint64_t midways_every = 0;  ///< events, about; 0: `at_midway` is not called
  std::function<void(Midway)> at_midway;
};

/// How long a device did what that of the recording did.
struct Followed {
  bool to_the_end = true;
  std::uint64_t left_at = 0;  ///< event, where not to the end
};

struct ReplayResult {
  RunMetrics metrics;
  bool finished = true;  ///< false: cancelled, hopeless, or stopped at an OOM
  std::string oom_report = {};
  std::uint64_t refused_before = 0;    ///< requests of `begin_with` that found no room
  bool started_exact = true;           ///< the start state was empty, or taken over as recorded
  std::uint64_t refusals = 0;          ///< calls that the device had no room for
  std::vector<Placement> blocks = {};  ///< at the end, by slot; no handle: not placed
  std::optional<Followed> followed;    ///< unset: the device did not follow the recording
};

/// Plays the program's events, but not those of its driver, on `strategy` over `device`.
/// O(1) per event beside what the strategy costs; memory is bounded by the live blocks and by those
/// that the program parks. Of `options` only what is asked of the replay itself counts; its
/// `begin_with` takes precedence over `adopt_start`, and is ignored on a cold start.
ReplayResult replay(const Program& program, Strategy& strategy, DeviceModel& device,
                    const ReplayOptions& options = {}, const Attached& attached = {});

}  // namespace memreplay

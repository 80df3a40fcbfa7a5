#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "core/event.hpp"
#include "core/request.hpp"
#include "device/device_model.hpp"
#include "metrics/run_metrics.hpp"
#include "replay/replay.hpp"
#include "strategy/strategy.hpp"

namespace memreplay {

/// What a replay came to so far: its peaks, its OOMs, and the usage of strategy and device since
/// what is measured began.
class Accounts {
 public:
  /// Before the first call of the strategy. All arguments outlive this; of `options` counts what is
  /// measured.
  Accounts(Strategy& strategy, DeviceModel& device, const PlayOptions& options)
      : strategy_(strategy), device_(device), options_(options) {}

  /// Counts from here on; what came before only led up to it. True where memory is reserved.
  bool begin_measuring();

  void count_event(Op op) { metrics_.events += !is_driver_event(op); }
  void count_request() { ++metrics_.allocs; }
  void add_block(Bytes requested, Bytes allocated) {
    requested_ += requested;
    allocated_ += allocated;
  }
  void remove_block(Bytes requested, Bytes allocated) {
    requested_ -= requested;
    allocated_ -= allocated;
  }
  /// The block counts on as requested.
  void move_out(Bytes allocated);
  /// After a request that was served.
  void note_allocated();
  /// A request that the recorded program was refused is served here, and freed at once.
  void note_served_after_all(Bytes requested);
  void note_oom(std::uint64_t event, const Request& request);

  /// After a request: only then a strategy holds more. True where the reserved peak grew.
  bool look_at_device() {
    const DeviceUsage& usage = usage_;
    if (usage.held <= metrics_.peak_reserved && usage.peak_held <= highest_held_) {
      if (usage.held == metrics_.peak_reserved && allocated_ > fullest_) note_fuller();
      return false;
    }
    const Bytes within = usage.peak_held > highest_held_ ? usage.peak_held : 0;
    highest_held_ = usage.peak_held;
    return note_reserved(std::max(usage.held, within));
  }

  RunSoFar so_far() const;
  EventState state_after(std::uint64_t event, const std::optional<Placement>& concerned) const;
  /// All of it, after the last event; `seconds` is how long the replay took.
  RunMetrics finish(double seconds) const;

 private:
  bool note_reserved(Bytes reserved);
  /// At the reserved peak: more is in use than at the moments before that reserved as much.
  void note_fuller();
  DeviceUsage calls_since_measuring() const;

  Strategy& strategy_;
  DeviceModel& device_;
  const PlayOptions& options_;
  const DeviceUsage& usage_ = device_.usage();
  Bytes requested_ = 0;
  Bytes allocated_ = 0;
  Bytes requested_at_peak_ = 0;
  Bytes fullest_ = 0;  ///< the most allocated while the most was reserved
  Bytes highest_held_ = 0;
  DeviceUsage built_ = device_.usage();  ///< before the first call
  DeviceUsage usage_before_;
  StrategyUsage strategy_before_;
  double seconds_before_ = 0;
  RunMetrics metrics_;
};

inline void Accounts::note_allocated() {
  metrics_.peak_requested = std::max(metrics_.peak_requested, requested_);
  metrics_.peak_asked = std::max(metrics_.peak_asked, requested_);
  if (allocated_ > metrics_.peak_allocated) {
    metrics_.peak_allocated = allocated_;
    requested_at_peak_ = requested_;
  }
}

}  // namespace memreplay

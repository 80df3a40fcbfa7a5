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

  void count_event(Op op) { tally_.events += !is_driver_event(op); }
  void count_request() { ++tally_.requests; }
  void add_block(Bytes requested, Bytes allocated) { tally_.add_block(requested, allocated); }
  void remove_block(Bytes requested, Bytes allocated) { tally_.remove_block(requested, allocated); }
  /// The block counts on as requested.
  void move_out(Bytes allocated);
  /// After a request that was served.
  void note_allocated() { tally_.note_allocated(); }
  /// A request that the recorded program was refused is served here, and freed at once.
  void note_served_after_all(Bytes requested);
  void note_oom(std::uint64_t event, const Request& request, OomPlace::Told told);

  /// After a request: only then a strategy holds more. True where the reserved peak grew.
  bool look_at_device() {
    if (!tally_.holds_more(usage_)) {
      if (tally_.is_fuller(usage_)) tally_.note_fuller(strategy_.free_space());
      return false;
    }
    const Bytes within = usage_.peak_held > tally_.highest_held ? usage_.peak_held : 0;
    tally_.highest_held = usage_.peak_held;
    return note_reserved(std::max(usage_.held, within));
  }
  /// For a strategy that plays a stretch by itself.
  Tally& tally() { return tally_; }

  RunSoFar so_far() const;
  EventState state_after(std::uint64_t event, const std::optional<Placement>& concerned) const;
  /// All of it, after the last event; `seconds` is how long the replay took.
  RunMetrics finish(double seconds) const;

 private:
  bool note_reserved(Bytes reserved);
  DeviceUsage calls_since_measuring() const;

  Strategy& strategy_;
  DeviceModel& device_;
  const PlayOptions& options_;
  const DeviceUsage& usage_ = device_.usage();
  Tally tally_;
  DeviceUsage built_ = device_.usage();  ///< before the first call
  DeviceUsage usage_before_;
  StrategyUsage strategy_before_;
  double seconds_before_ = 0;
  RunMetrics metrics_;
};

}  // namespace memreplay

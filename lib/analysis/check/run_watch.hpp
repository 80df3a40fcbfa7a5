#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/recorded/live_blocks.hpp"
#include "metrics/metrics.hpp"
#include "replay/replay.hpp"

namespace memreplay {

/// Follows what a replay from its first event has come to: O(limits) per event.
class RunWatch final : public Watcher {
 public:
  struct Limit {
    const CheckedMetric* metric;
    std::uint64_t most;
  };
  /// `device` is the one that is replayed on, with nothing on it but what the strategy took when it
  /// was made. Both references outlive this.
  RunWatch(const Trace& trace, const DeviceUsage& device, std::vector<Limit> limits);

  void on_start_block(Slot slot, const Placement& placement) override;
  void on_start(const EventState& state, const Strategy& strategy) override;
  void on_event(const EventState& state, const Strategy& strategy) override;

  /// The figures of the checked metrics, had the recording ended after the last event seen.
  const RunMetrics& so_far() const { return so_far_; }
  /// By limit: the event at which the metric last passed it; unset where it is within at the end.
  const std::vector<std::optional<std::uint64_t>>& over_since() const { return over_since_; }
  /// What is live at the allocated peak, the first of several, of what was served.
  std::vector<LiveBlock> live_at_peak() const;

 private:
  const Trace& trace_;
  const DeviceUsage& device_;
  const DeviceUsage built_;    ///< when the strategy was made
  DeviceUsage device_before_;  ///< right before the first event
  StrategyUsage strategy_before_;
  std::vector<Slot> from_before_;  ///< blocks that are there, ascending once it started
  std::vector<Limit> limits_;
  std::vector<std::optional<std::uint64_t>> over_since_;
  std::vector<std::uint64_t> unserved_;  ///< events, ascending
  std::uint64_t behind_peak_ = 0;        ///< the event after the one of the allocated peak
  RunMetrics so_far_;
};

}  // namespace memreplay

#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/control.hpp"
#include "metrics/metrics.hpp"
#include "program/live_blocks.hpp"
#include "questions/check/answer.hpp"
#include "replay/replay.hpp"
#include "verify/subject.hpp"

/// Did it get worse? A recording is replayed and laid beside what the same replay gave before.

namespace memreplay {

class LateStart;

inline constexpr std::size_t kPlacesKept = 20;

/// With the blocks from before where the entry counts them, else on an empty device. `late` is of
/// this subject with them. Throws UsageError where the strategy cannot be made. One replay, or two
/// and an estimate; O(metrics) more per event.
EntryCheck check_entry(const Subject& subject, const LateStart& late, const BaselineEntry& entry,
                       const Control& control = {});

/// What the entry's replay comes to with what was there before the recording. Unset where it
/// started empty, where that is not recorded or cannot be estimated, or where it was stopped. One
/// replay, or two and an estimate.
std::optional<WithStart> with_start(const Subject& subject, const LateStart& late,
                                    const BaselineEntry& entry, const Control& control = {});

/// The entry with the values and places that the check found; tolerances stay.
BaselineEntry updated(const BaselineEntry& entry, const EntryCheck& check);

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

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "metrics/run_metrics.hpp"
#include "replay/contender.hpp"
#include "replay/replay.hpp"
#include "run/late_start/rehearsal.hpp"
#include "run/late_start/stage.hpp"
#include "verify/subject.hpp"

namespace memreplay {

/// A quantity that the recording does not determine.
struct Estimated {
  Bytes value = 0;
  BytesInterval interval;

  /// What is known for certain.
  void keep_within(Bytes least, Bytes most);
  /// No more than that is, by its lowest, its likeliest and its highest value.
  void keep_below(const Estimated& other);
};

/// What a recording that starts late lets one expect of a strategy.
struct WarmEstimate {
  Estimated peak_reserved;
  Estimated end_reserved;
  std::uint64_t oom_retries = 0;
  /// The preparation whose replay comes nearest to the estimate.
  Preparation nearest;
  std::uint64_t ooms = 0;  ///< at least one where it does not fit
  /// Requests of the earlier steps that found no room on this device.
  std::uint64_t refused_before = 0;
  /// Neither they nor the recording ran out of memory.
  bool fits = true;

  RunInterval interval() const { return {peak_reserved.interval, end_reserved.interval}; }
  /// Puts what is estimated in the place of what a replay gave.
  void enter_into(RunMetrics& metrics) const;
};

/// Answers for one recording that starts late; what does not depend on the strategy is found once.
/// May be asked from several threads.
class WarmStart {
 public:
  /// Only for a subject that `applies_to` takes. `replaying` says what is measured. Costs at
  /// most six replays of the recording.
  WarmStart(const Subject& subject, const ReplayOptions& replaying);
  WarmStart(const WarmStart&) = delete;
  WarmStart& operator=(const WarmStart&) = delete;

  /// The recording is of PyTorch's allocator and states what was there when it began.
  static bool applies_to(const Subject& subject);

  const EarlierSteps& earlier_steps() const { return steps_; }

  /// Unset where the strategy cannot be rehearsed: it follows a plan, or moves blocks away. Costs
  /// at most nine replays, and the first time that settings differ in some way from those recorded
  /// up to eight more.
  std::optional<WarmEstimate> estimate(const Contender& contender,
                                       const SimulatedDeviceOptions& device) const;

  /// For a replay of the subject after its earlier steps, which says whether a device would have
  /// seen the recording begin; null where the strategy cannot be rehearsed.
  Beginning after_earlier_steps(const StrategySpec& spec) const;
  /// For a replay of the subject that begins as `preparation` says.
  Beginning beginning(const Preparation& preparation) const;

 private:
  class Guesses;
  /// Where nothing but small blocks was there before: what large requests reserve is determined,
  /// and the rest is no more than was there. Unset where that does not settle it.
  std::optional<WarmEstimate> beside_small_start(Guesses& guesses, const TorchModel& model,
                                                 Bytes most) const;
  /// Under the recorded settings, on a device without limit.
  StageOutcome recorded_outcome(const Preparation& preparation) const;
  const Subject& subject_;
  ReplayOptions replaying_;
  Contender usual_;  ///< the recorded allocator
  WarmParts parts_;
  Program rehearsed_;
  Program measured_;
  WarmScript script_;
  SimulatedDeviceOptions endless_;
  mutable std::mutex mutex_;
  mutable Stage recorded_;  ///< under the recorded settings, on an endless device
  EarlierSteps steps_;
};

/// A recording that may start late, and what then stands instead of the figures of its replays.
/// What it tells of the time before is found when it is first needed. May be asked from several
/// threads.
class LateStart {
 public:
  /// `subject` outlives this. `replaying` says what is measured.
  LateStart(const Subject& subject, const ReplayOptions& replaying);

  /// The recording states what was there when it began, and is replayed with it, at its size.
  bool applies() const;

  /// The estimate for a replay that began with that; unset where the recording determines its
  /// figures, or they cannot be estimated. Costs nothing in the first case, else see WarmStart.
  std::optional<WarmEstimate> instead_of(const ReplayResult& replay, const Contender& contender,
                                         const SimulatedDeviceOptions& device) const;

  /// Only where it applies.
  const WarmStart& warm() const;

 private:
  const Subject& subject_;
  ReplayOptions replaying_;
  mutable std::once_flag looked_;
  mutable std::unique_ptr<WarmStart> warm_;
};

}  // namespace memreplay

#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "analysis/late_start/warm_start.hpp"

namespace memreplay {

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
  std::optional<WarmEstimate> instead_of(const ReplayResult& replay, const StrategySpec& spec,
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

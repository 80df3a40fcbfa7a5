#pragma once

#include <memory>
#include <optional>

#include "analysis/explain/moment.hpp"
#include "analysis/explain/question.hpp"
#include "analysis/late_start/late_start.hpp"
#include "analysis/run/devices.hpp"
#include "core/control.hpp"

namespace memreplay {

/// Whose memory is looked at, on which device.
struct View {
  SizedDevice device;
  bool as_recorded = false;
  StrategySpec spec;
  std::unique_ptr<LateStart> late;  ///< null: as recorded
  std::unique_ptr<MomentSource> source;
  std::optional<TorchModel> model;       ///< PyTorch's allocator, if it is one
  std::optional<WarmEstimate> estimate;  ///< set: the replay begins as it says
};

/// The recorded memory where the recording shows it and nothing else is asked for; else that of a
/// strategy, replayed as the question `replay` does, in which `control` ends the replays. `subject`
/// outlives it. O(events).
View view_of(const Subject& subject, const ExplainQuestion& question, const Control& control);

}  // namespace memreplay

#pragma once

#include <memory>
#include <optional>

#include "analysis/explain/moment.hpp"
#include "analysis/explain/question.hpp"
#include "core/control.hpp"

namespace memreplay {

/// Whose memory is looked at, on which device.
struct View {
  SimulatedDeviceOptions device;
  bool as_recorded = false;
  StrategySpec spec;
  std::unique_ptr<MomentSource> source;
  std::optional<TorchModel> model;  ///< of PyTorch's allocator, if it is one
};

/// The recorded memory where the recording shows it and nothing else is asked for; else that of a
/// strategy, in which `control` ends the replays. `subject` outlives it. O(events).
View view_of(const Subject& subject, const ExplainQuestion& question, const Control& control);

}  // namespace memreplay

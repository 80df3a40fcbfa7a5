#include "analysis/explain/view.hpp"

#include "analysis/recorded/recorded_device.hpp"

namespace memreplay {
namespace {

std::unique_ptr<MomentSource> replayed(const Subject& subject, const View& view,
                                       const ExplainQuestion& question, const Control& control) {
  ReplayOptions replaying;
  replaying.program.start = question.setup.start;
  replaying.stops.cancelled = control.stop;
  // Behind a refused request the program would have gone another way.
  replaying.stops.at_oom = !question.at;
  const TrialOptions trial{.device = view.device, .torch_version = question.setup.torch_version};
  return std::make_unique<ReplayedMoments>(subject, view.spec, trial, replaying);
}

}  // namespace

View view_of(const Subject& subject, const ExplainQuestion& question, const Control& control) {
  View view;
  view.device = question.setup.device.simulated();
  const bool asked_capacity = view.device.capacity.has_value();
  const auto room = recorded_room(subject);
  if (!asked_capacity && room) view.device.capacity = room->bytes + view.device.reserve;
  // A device too small for what was recorded asks what would have happened on it.
  const bool fits =
      !asked_capacity ||
      recorded_peak_reserved(subject.trace()) + view.device.reserve <= *view.device.capacity;
  view.as_recorded = !question.strategy && shows_segments(subject) && fits;
  if (view.as_recorded) {
    view.spec = parse_strategy("recorded");
    view.source = std::make_unique<RecordedMoments>(subject);
  } else {
    view.spec = question.strategy.value_or(usual_strategy(subject.recording()));
    view.source = replayed(subject, view, question, control);
  }
  if (subject.settings() || view.spec.name != "recorded") {
    view.model = subject.model_of(view.spec, question.setup.torch_version);
  }
  return view;
}

}  // namespace memreplay

#include "analysis/explain/view.hpp"

#include "analysis/recorded/recorded_device.hpp"
#include "analysis/run/run.hpp"

namespace memreplay {
namespace {

// As judged runs have it: where the start leaves the result open, the replay that comes nearest to
// the estimate.
void replay_in(View& view, const Subject& subject, const ExplainQuestion& question,
               const Control& control) {
  Setup setup;
  setup.torch_version = question.setup.torch_version;
  setup.start = question.setup.start;
  ReplayOptions replaying = replay_options(subject.trace(), setup, control);
  replaying.program.refusals_stand = view.device.unknown_size;
  const TrialOptions trial{.device = view.device.options, .torch_version = setup.torch_version};
  view.late = std::make_unique<LateStart>(subject, replaying);
  if (view.late->applies()) {
    Trial plain(subject, view.spec, trial, plan_for(subject, view.spec, replaying.program));
    view.estimate = view.late->instead_of(plain.run(replaying), view.spec, setup.torch_version,
                                          view.device.options);
  }
  if (view.estimate) {
    replaying.begin_with = view.late->warm().beginning(view.estimate->nearest);
  }
  // Behind a refused request the program would have gone another way.
  const At::Kind at = question.at.kind;
  replaying.stops.at_oom = at == At::Kind::usual || at == At::Kind::oom;
  view.source = std::make_unique<ReplayedMoments>(subject, view.spec, trial, replaying);
}

// Whether all that was recorded happens on the device too, and nothing else.
bool same_as_recorded(const Subject& subject, const SizedDevice& device, const DeviceShape& asked) {
  const auto shown = recorded_room(subject);
  const auto room = device.options.room();
  if (asked.address_space) return false;
  if (!asked.capacity) return !asked.endless || !shown;
  return shown ? shown->bytes == *room : recorded_peak_reserved(subject.trace()) <= *room;
}

}  // namespace

View view_of(const Subject& subject, const ExplainQuestion& question, const Control& control) {
  View view;
  view.device = sized_for(subject, question.setup.device);
  view.as_recorded = !question.strategy && shows_segments(subject) &&
                     same_as_recorded(subject, view.device, question.setup.device);
  if (view.as_recorded) {
    view.spec = parse_strategy("recorded");
    view.source = std::make_unique<RecordedMoments>(subject);
  } else {
    view.spec = question.strategy.value_or(usual_strategy(subject.recording()));
    replay_in(view, subject, question, control);
  }
  if (subject.settings() || view.spec.name != "recorded") {
    view.model = subject.model_of(view.spec, question.setup.torch_version);
  }
  return view;
}

}  // namespace memreplay

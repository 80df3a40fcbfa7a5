#include "questions/explain/explained.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>

#include "core/control.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "program/growth.hpp"
#include "program/recorded_device.hpp"
#include "program/summary.hpp"
#include "program/too_much.hpp"
#include "questions/explain/answer.hpp"
#include "questions/explain/moment.hpp"
#include "questions/settings/search.hpp"
#include "run/devices.hpp"
#include "run/inputs.hpp"
#include "run/late_start/late_start.hpp"
#include "run/run.hpp"
#include "strategy/torch/lint.hpp"

namespace memreplay {
namespace {

/// Whose memory is looked at, on which device.
struct View {
  SizedDevice device;
  bool as_recorded = false;
  StrategySpec spec;
  std::unique_ptr<LateStart> late;  ///< null: as recorded
  std::unique_ptr<MomentSource> source;
  std::optional<TorchModel> model;       ///< PyTorch's allocator, if it is one
  bool is_own_of_another = false;        ///< another allocator's recording, under its own model
  std::optional<WarmEstimate> estimate;  ///< set: the replay begins as it says
};

// As judged runs have it: where the start leaves the result open, the replay that comes nearest to
// the estimate.
void replay_in(View& view, const Subject& subject, const ExplainQuestion& question,
               const Control& control) {
  Setup setup;
  setup.start = question.setup.start;
  ReplayOptions replaying = replay_options(subject.trace(), setup, control);
  replaying.program.refusals_stand = view.device.unknown_size;
  replaying.device = view.device.options;
  view.late = std::make_unique<LateStart>(subject, replaying);
  const Contender contender(subject, view.spec, replaying.program);
  if (view.late->applies()) {
    const ReplayResult plain = replay(contender, replaying).result;
    view.estimate = view.late->instead_of(plain, contender, view.device.options);
  }
  if (view.estimate) {
    replaying.begin_with = view.late->warm().beginning(view.estimate->nearest);
  }
  // Behind a refused request the program would have gone another way.
  const At::Kind at = question.at.kind;
  replaying.stops.at_oom = at == At::Kind::usual || at == At::Kind::oom;
  replaying.testimony = false;
  view.source = std::make_unique<ReplayedMoments>(contender, replaying);
}

// Whether all that was recorded happens on the device too, and nothing else.
bool same_as_recorded(const Subject& subject, const SizedDevice& device, const Setup& asked) {
  const auto shown = recorded_room(subject);
  const auto room = device.options.room();
  if (asked.address_space) return false;
  if (!asked.capacity) return !asked.endless || !shown;
  return shown ? shown->bytes == *room : recorded_peak_reserved(subject.trace()) <= *room;
}

/// The recorded memory where the recording shows it and nothing else is asked for; else that of a
/// strategy, replayed as the question `replay` does, in which `control` ends the replays. `subject`
/// outlives it. O(events).
View view_of(const Subject& subject, const ExplainQuestion& question, const Control& control) {
  View view;
  view.device = sized_for(subject, question.setup);
  view.as_recorded = !question.strategy && shows_segments(subject) &&
                     same_as_recorded(subject, view.device, question.setup);
  const std::string& release = question.setup.release;
  if (view.as_recorded) {
    view.spec = under_release(parse_strategy("recorded"), release);
    view.source = std::make_unique<RecordedMoments>(subject);
  } else {
    view.spec =
        under_release(question.strategy.value_or(usual_strategy(subject.recording())), release);
    replay_in(view, subject, question, control);
  }
  if (subject.settings() || view.spec.name != "recorded") {
    view.model = subject.model_of(view.spec);
  }
  view.is_own_of_another = !question.strategy && !subject.recording().strategy.empty();
  return view;
}

/// A shallow search replays no more events altogether, but makes eight replays.
constexpr std::uint64_t kEventsOfShortSearch = 20'000'000;
constexpr std::uint64_t kSettingsOfShortSearch = 200;

void check_fits(const Chosen& chosen, const ExplainQuestion& question) {
  const std::uint64_t events = chosen.trace->size();
  if (question.at.kind == At::Kind::event && question.at.event >= events) {
    throw UsageError(fmt::format("--at is {}; {} has {} events, the first is 0", question.at.event,
                                 chosen.recording->path, events));
  }
  for (const Phase& phase : question.phases) {
    if (phase.to <= events) continue;
    throw UsageError(fmt::format("--phase {} goes to {}; {} has {} events", phase.name, phase.to,
                                 chosen.recording->path, events));
  }
}

ExplainOptions options_of(const Subject& subject, const View& view,
                          const ExplainQuestion& question) {
  ExplainOptions options{.at = question.at,
                         .phases = question.phases,
                         .by = question.by,
                         .tree = question.tree,
                         .stacks = question.stacks,
                         .by_phase = question.by_phase};
  options.total = view.as_recorded ? question.setup.capacity : view.device.options.capacity;
  options.reserved_for = options.total;
  if (!options.total && view.as_recorded) {
    options.reserved_for = subject.verified()->reading.device_total;
  }
  options.address_space = question.setup.address_space;
  options.unknown_size = !view.as_recorded && view.device.unknown_size;
  if (view.model) options.settings = view.model->settings;
  return options;
}

// The options that ask for another device than usual.
std::string options_like(const ExplainQuestion& question, const TraceSummary& trace) {
  const Setup& setup = question.setup;
  std::string options;
  if (setup.capacity) options += " --capacity " + size_argument(*setup.capacity);
  if (setup.endless) options += " --capacity none";
  if (setup.reserve) options += " --reserve " + size_argument(*setup.reserve);
  if (setup.address_space) {
    options += " --address-space " + size_argument(*setup.address_space);
  }
  if (trace.devices > 1) options += fmt::format(" --gpu {}", trace.gpu);
  if (!setup.release.empty()) options += " --torch-version " + setup.release;
  return options;
}

// PyTorch then throws without an entry.
bool hides_failures(const View& view, const Explanation& e) {
  return view.as_recorded && view.model && view.model->settings.throw_on_cudamalloc_oom &&
         !e.fails && e.shows_requests;
}

// Without a look at what follows the moment.
Explanation explanation_of(const Subject& subject, const View& view,
                           const ExplainQuestion& question) {
  Explanation e = explain(subject, *view.source, options_of(subject, view, question));
  if (view.estimate) {
    e.refused_before = view.estimate->refused_before;
    if (e.refused_before > 0 && e.cause == Cause::none) e.cause = Cause::unknown;
  }
  if (hides_failures(view, e) && e.cause == Cause::none) e.cause = Cause::unknown;
  return e;
}

std::vector<std::string> pool_names(const Trace& trace) {
  std::vector<std::string> names;
  for (const PoolId& id : trace.pools) {
    names.push_back(id == PoolId{} ? "" : fmt::format("({}, {})", id.first, id.second));
  }
  return names;
}

void add_remarks(const Subject& subject, const View& view, const std::string& release,
                 ExplainedDevice& explained) {
  if (explained.explanation.unplaced > 0) {
    explained.remarks.push_back(fmt::format("{} live blocks are in no segment of the recording.",
                                            human_count(explained.explanation.unplaced)));
  }
  if (subject.trace().stated.sampled) {
    explained.remarks.emplace_back("Its figures are told from samples, and are estimates.");
  }
  const bool own = view.spec.name == "recorded" && subject.settings() != nullptr;
  const std::string conf = own ? subject.settings()->conf : explained.conf;
  for (const SettingIssue& issue : lint_settings(conf, release)) {
    explained.remarks.push_back("The setting: " + issue.text + ".");
  }
  if (subject.trace().coverage.starts_empty || subject.trace().size() == 0) return;
  explained.remarks.emplace_back(
      "The recording starts late: blocks from before it have no age, and some have no stack.");
  if (view.as_recorded) return;
  explained.remarks.emplace_back(
      view.estimate
          ? "Figures are those of the replay that best matches the time before the recording."
          : "Figures are those of one replay from the recorded start.");
}

enum class SearchDepth {
  as_tune,  ///< finds what `tune` finds
  shallow,  ///< so that the answer names a setting that helps
};

void search(const Subject& subject, const View& view, const ExplainQuestion& question,
            SearchDepth depth, const Control& control, ExplainedDevice& explained) {
  if (question.runs == std::uint64_t{0}) return;
  TuneOptions tuning;
  tuning.bench = {{&subject}, {view.device.options}, {false}, {view.device.unknown_size}};
  if (view.is_own_of_another) tuning.strategy = view.spec;
  tuning.release = question.setup.release;
  tuning.threads = std::max(1u, std::thread::hardware_concurrency());
  if (question.runs) {
    tuning.runs = *question.runs;
  } else if (depth == SearchDepth::as_tune) {
    tuning.runs = default_runs(tuning.bench);
  } else {
    tuning.runs = std::clamp<std::uint64_t>(kEventsOfShortSearch / (subject.trace().size() + 1), 8,
                                            kSettingsOfShortSearch);
    tuning.late_events = kEventsOfShortSearch;
  }
  tuning.replaying.stops.cancelled = control.stop;
  tuning.replaying.testimony = false;
  tuning.progress = [&](double share) { control.show("settings tried", share); };
  TuneResult tuned = tuning.strategy ? tune_listed(tuning) : tune(tuning);
  if (tuned.outcomes.empty()) return;
  if (tuning.strategy) tuned.as_set = line_as_set(tuned);
  tuning.progress = [&](double share) {
    control.show("estimating the time before the recording", share);
  };
  explained.late = weigh_late_recordings(tuning, tuned);
  explained.tuned = std::move(tuned);
}

/// Memory that would have been enough by its size may be too little for what follows.
void look_at_what_follows(const Subject& subject, const SizedDevice& device, Explanation& e) {
  if (e.cause != Cause::fragmentation) return;
  e.too_much = too_much_in(subject.trace(), device.options.room());
  const auto [cause, in_effect] = verdict_on(e.cause, e.too_much.has_value());
  e.cause = cause;
  e.in_effect = in_effect;
}

}  // namespace

std::optional<Refusal> first_refusal(const Subject& subject,
                                     const std::optional<StrategySpec>& strategy,
                                     const Setup& setup, const Control& control) {
  const ExplainQuestion question{.strategy = strategy, .setup = setup};
  const Explanation e = explanation_of(subject, view_of(subject, question, control), question);
  if (e.cause == Cause::none) return std::nullopt;
  return e.refusal();
}

ExplainedDevice explained(const Chosen& chosen, const Subject& subject,
                          const ExplainQuestion& question, const Control& control,
                          const ExplainProgress& progress, const std::string& remark) {
  check_fits(chosen, question);
  ExplainedDevice explained;
  if (!remark.empty()) explained.remarks.push_back(remark);
  explained.among_others = question.among_others;
  explained.trace = summarise(chosen);
  explained.model_check = model_check(subject);
  explained.streams = subject.trace().streams;
  if (explained.streams.empty()) explained.streams.push_back(0);
  explained.pool_names = pool_names(subject.trace());
  const View view = view_of(subject, question, control);
  explained.device = summarise(view.device);
  explained.state_beyond =
      state_beyond(subject.trace(), view.device.options.room(), question.setup.start);
  explained.options = options_like(question, explained.trace);
  if (!view.as_recorded) explained.strategy = view.spec.text;
  if (view.model) explained.conf = conf_of(setting_of(view.model->settings), {});
  control.show("explaining " + chosen.recording->path, 0.3);
  explained.explanation = explanation_of(subject, view, question);
  explained.explanation.rows = question.rows;
  if (control.stopped()) {
    explained.finished = false;
    return explained;
  }
  if (explained.state_beyond) explained.explanation.cause = Cause::shortage;
  explained.untold = hides_failures(view, explained.explanation);
  add_remarks(subject, view, question.setup.release, explained);
  explained.asks_growth = question.growth;
  if (question.growth || explained.trace.growth) {
    explained.growth =
        step_growth(*chosen.recording, subject.trace(), question.by, view.device.options.room());
  }
  const Explanation& e = explained.explanation;
  const bool searches = (view.as_recorded || view.model || view.is_own_of_another) &&
                        e.shows_requests && !question.growth;
  if (!question.growth) look_at_what_follows(subject, view.device, explained.explanation);
  progress.explained(explained);
  // The device of the search has addresses without end where nobody says how many.
  const bool may_help = !(e.at_oom && e.cause == Cause::unknown) && e.cause != Cause::shortage &&
                        !(view.as_recorded && e.cause == Cause::address_space);
  if (searches && may_help && !control.stopped()) {
    const auto depth =
        e.cause == Cause::fragmentation ? SearchDepth::as_tune : SearchDepth::shallow;
    search(subject, view, question, depth, control, explained);
  }
  progress.searched(explained);
  return explained;
}

}  // namespace memreplay

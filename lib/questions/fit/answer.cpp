#include "questions/fit/answer.hpp"

#include <algorithm>
#include <tuple>

#include "core/text.hpp"
#include "program/early_end.hpp"
#include "program/summary.hpp"
#include "program/too_much.hpp"
#include "questions/fit/fit.hpp"
#include "run/question.hpp"
#include "run/run.hpp"

namespace memreplay {
namespace {

constexpr std::size_t kCardsNamed = 3;

/// What all searches on one device of a recording share.
struct Job {
  const Subject& subject;
  const Setup& setup;
  const LateStart& late;
  std::uint64_t budget;
  const Control& control;
  const std::vector<ChosenCard>& cards;
  /// What of a card is set aside, by what was recorded.
  std::function<SetAside(const Card&)> aside_on;

  Job of(const Subject& other, const LateStart& its_start) const {
    return {other, setup, its_start, budget, control, cards, aside_on};
  }
};

/// A replay that begins as the recording does and goes as recorded.
ReplayOptions options_on_simulated(const Job& job) {
  return on_device(replay_options(job.subject.trace(), job.setup, job.control),
                   simulated({job.setup.simulated()}), job.setup);
}

struct AsRecorded {
  ReplayResult result;
  Bytes held = 0;  ///< at its peak: a device with so much for the strategy suffices
};

// Unset where the recording does not determine such a replay.
std::optional<AsRecorded> as_recorded(const Job& job, const StrategySpec& spec,
                                      std::optional<Bytes> capacity = std::nullopt) {
  ReplayOptions replaying = options_on_simulated(job);
  replaying.device.capacity = capacity;
  replaying.watch_capacity = true;
  replaying.measuring.from = 0;
  const Contender contender(job.subject, spec, replaying.program);
  auto [result, trial] = replay(contender, replaying);
  if (!result.finished || contender.start_matters(replaying.device.room(), result)) {
    return std::nullopt;
  }
  AsRecorded found{std::move(result), trial->watch()->usage().peak_awake};
  // Who looks at the size of the device may do otherwise on the least one.
  if (capacity || !trial->watch()->asked_for_size()) return found;
  return as_recorded(job, spec,
                     round_up(found.held + replaying.device.reserve, replaying.device.granularity));
}

// How a recording that starts late would have begun on another device is rehearsed: the state that
// it began with may not even fit there.
FitOptions options_for(const Job& job, const StrategySpec& spec) {
  FitOptions options;
  options.replaying = options_on_simulated(job);
  if (job.late.applies()) {
    options.replaying.begin_with = job.late.warm().after_earlier_steps(spec);
    if (const auto recorded = as_recorded(job, spec)) options.enough = recorded->held;
  }
  options.budget = job.budget;
  return options;
}

// On a smaller device the recording would have started in another way than on its own, unless all
// that was there is far from filling any. `enough`: as recorded, it runs on so much.
bool starts_otherwise(const Job& job, std::optional<Bytes> enough) {
  return job.late.applies() && !(enough && starts_small(job.subject.trace()));
}

Run judged_there(const Job& job, const StrategySpec& spec, const Fit& fit,
                 std::optional<Bytes> enough, ReplayResult result) {
  const Bytes room = *fit.smallest - job.setup.reserve.value_or(0);
  Run there =
      judged(Contender(job.subject, spec), job.setup, room, std::move(result), std::nullopt);
  if ((fit.bounded_by_start || starts_otherwise(job, enough)) && there.exact) {
    there.exact = false;
    there.inexact_because =
        "the recording starts with that much reserved, and it does not show how it would have "
        "started on a smaller device";
  }
  return there;
}

// From what is live at the peak to what was recorded, or by the estimate is reserved at most.
std::optional<BytesInterval> interval_of(const Job& job, const StrategySpec& spec,
                                         std::optional<Bytes> enough, const FitRun& run) {
  if (!starts_otherwise(job, enough) || !run.fit.smallest ||
      run.there.metrics.moved_out_blocks != 0) {
    return std::nullopt;
  }
  SimulatedDeviceOptions device = job.setup.simulated();
  const auto with_others = [&](Bytes held) {
    return round_up(held + device.reserve, device.granularity);
  };
  const RunMetrics& m = run.there.metrics;
  BytesInterval interval{with_others(std::max(m.peak_asked, m.lower_bound)), *run.fit.smallest};
  if (enough) {
    interval.high = with_others(*enough);
  } else {
    device.capacity.reset();
    const auto estimate = job.late.warm().estimate(Contender(job.subject, spec), device);
    if (!estimate) return std::nullopt;
    interval.high = with_others(estimate->peak_reserved.interval.high);
  }
  return BytesInterval{std::min(interval.low, *run.fit.smallest),
                       std::max(interval.high, *run.fit.smallest)};
}

FitRun fit_run(const Job& job, const StrategySpec& spec) {
  FitOptions options = options_for(job, spec);
  options.trying = [&](std::optional<Bytes> capacity, double spent) {
    job.control.show(spec.text + (capacity ? " on " + human_size(*capacity) : ""), spent);
  };
  FoundFit found = fit(job.subject, spec, options);
  if (job.cards.size() == 1 && found.fit.given) {
    const Card& card = job.cards[0].card;
    found.fit.given = runs_on_card(job.subject, spec, options, card, job.aside_on(card));
  }
  FitRun run{.fit = std::move(found.fit), .interval = {}, .there = {}};
  if (run.fit.smallest && !found.there) found.there = as_recorded(job, spec)->result;
  if (found.there) {
    run.there = judged_there(job, spec, run.fit, options.enough, std::move(*found.there));
  } else {
    run.there.strategy = spec.text;
    run.there.gpu = job.subject.trace().gpu;
  }
  run.interval = interval_of(job, spec, options.enough, run);
  if (run.fit.smallest && !job.subject.pluggable_pools().empty()) {
    options.replaying.sleeps_unseen = false;
    const FoundFit awake = fit(job.subject, spec, options);
    if (awake.fit.smallest) {
      run.interval = {run.interval ? run.interval->low : *run.fit.smallest,
                      std::max(run.interval ? run.interval->high : 0, *awake.fit.smallest)};
    }
  }
  return run;
}

// A completed recording has no driver events: gives the number in the recording itself, of what
// comes after its end the last.
void number_as_recorded(const Trace& recorded, std::optional<OomPlace>& oom) {
  if (!oom) return;
  std::uint64_t others = 0;
  std::uint64_t event = 0;
  for (; event + 1 < recorded.size(); ++event) {
    if (!is_driver_event(recorded.ops[event]) && others++ == oom->event) break;
  }
  oom->event = event;
}

// What needs no more for the rest of its step needs what is recorded, which is exact.
void confirm(const Subject& recorded, bool begins_alike, const Job& job, const StrategySpec& spec,
             FitRun& run) {
  number_as_recorded(recorded.trace(), run.fit.first_oom);
  if (run.fit.given) number_as_recorded(recorded.trace(), run.fit.given->first_oom);
  const LateStart late(recorded, replay_options(recorded.trace(), job.setup, job.control));
  FitRun as_recorded = fit_run(job.of(recorded, late), spec);
  if (begins_alike && as_recorded.fit.smallest == run.fit.smallest) {
    run = std::move(as_recorded);
  } else if (as_recorded.fit.smallest && run.fit.smallest) {
    run.interval = {*as_recorded.fit.smallest,
                    round_up(*run.fit.smallest + *run.fit.smallest / kPartsOfRest,
                             job.setup.simulated().granularity)};
  }
}

// From the least to the most that any of the recordings needs that may have been made.
void span_others(const Job& job, const MadeRecordings& made, const StrategySpec& spec,
                 FitRun& run) {
  if (!run.fit.smallest || made.is_certain()) return;
  BytesInterval all{*run.fit.smallest, *run.fit.smallest};
  for (const MadeRecording& other : made.others) {
    const Subject subject(other.recording, other.trace(), other.origin);
    const LateStart late(subject, replay_options(subject.trace(), job.setup, job.control));
    const FitRun there = fit_run(job.of(subject, late), spec);
    if (!there.fit.smallest) return;
    span_figure(all, *run.fit.smallest, other, *there.fit.smallest);
  }
  all.high = round_up(all.high, job.setup.simulated().granularity);
  run.interval = opened(all, made);
}

void name_cards(const Job& job, const std::vector<StrategySpec>& strategies, FittedDevice& fitted) {
  const FitRun* best = fitted.best();
  if (best == nullptr || fitted.device.capacity_from == CapacityFrom::option) return;
  if (fitted.at_least() || job.subject.trace().gpu < 0) return;  // a host needs no card
  if (job.control.stopped()) return;
  const StrategySpec& spec = strategies[static_cast<std::size_t>(best - fitted.runs.data())];
  const bool may_need_more = fitted.completed && best->interval;
  const Bytes needed = may_need_more ? best->interval->high : *best->fit.smallest;
  auto cards = cards_that_fit(job.subject, spec, options_for(job, spec), job.aside_on,
                              needed - fitted.reserve, kCardsNamed);
  if (!job.control.stopped()) fitted.cards = std::move(cards);
}

void try_cards(const Job& job, const std::vector<StrategySpec>& strategies, FittedDevice& fitted) {
  for (const ChosenCard& chosen : job.cards) {
    FittedCard& on =
        fitted.asked_cards.emplace_back(FittedCard{chosen.card, job.aside_on(chosen.card), {}});
    for (const StrategySpec& spec : strategies) {
      if (job.control.stopped()) return;
      on.runs.push_back(
          runs_on_card(job.subject, spec, options_for(job, spec), chosen.card, on.set_aside));
    }
  }
}

/// The one card that is asked about is the device; several stand beside it, and then the recorded
/// one, of which nothing is set aside, is not asked about.
Setup setup_of(const FitQuestion& question, const std::optional<SetAside>& aside) {
  Setup setup = question.setup;
  if (question.cards.size() == 1) setup.capacity = question.cards[0].card.total;
  if (question.cards.size() > 1) setup.endless = true;
  if (aside) setup.reserve = aside->bytes();
  return setup;
}

FittedDevice fitted_device(const Chosen& chosen, const FitQuestion& question,
                           const Control& control) {
  const Subject recorded = chosen.subject(control);
  std::optional<std::vector<CardTraits>> processes;
  const auto aside_on = [&](const Card& card) {
    if (const auto& reserve = question.setup.reserve) return SetAside{.others = *reserve};
    if (!processes) processes = processes_of(recorded);
    return set_aside_on(card, *processes);
  };
  std::optional<SetAside> aside;
  for (const ChosenCard& chosen_card : question.cards) {
    const SetAside there = aside_on(chosen_card.card);
    aside = aside ? bounds_of_both(*aside, there) : there;
  }
  Setup setup = setup_of(question, aside);
  const auto completed = with_rest_of_step(recorded);
  std::optional<Subject> whole;
  if (completed) {
    const MadeRecording& made = completed->made;
    whole.emplace(made.recording, made.trace(), made.origin);
  }
  const Subject& subject = whole ? *whole : recorded;
  SizedDevice device = sized_for(subject, setup);
  // The least on which what was recorded happens answers no question here.
  if (device.from == CapacityFrom::recorded_retries) device = {setup.simulated()};
  setup.capacity = device.options.capacity;
  FittedDevice fitted;
  fitted.trace = summarise(chosen);
  fitted.completed = completed.has_value();
  fitted.device = summarise(device);
  if (question.cards.size() == 1) {
    fitted.device.name = question.cards[0].card.name;
    fitted.device.set_aside = aside;
  }
  fitted.reserve = setup.reserve.value_or(0);
  fitted.set_aside = aside;
  fitted.state_beyond = state_beyond(subject.trace(), device.options.room(), setup.start);
  fitted.nothing_requested = !requests_anything(*chosen.trace);
  if (fitted.nothing_requested) return fitted;
  fitted.model_check = model_check(subject);
  const LateStart late(subject, replay_options(subject.trace(), setup, control));
  if (late.applies()) fitted.trace.warm_class = name_of(late.warm().earlier_steps().kind);
  const Job job{subject, setup, late, question.budget, control, question.cards, aside_on};
  const std::vector<StrategySpec> strategies =
      asked_or_usual(question.strategies, *chosen.recording, question.setup.release);
  for (const StrategySpec& spec : strategies) {
    if (control.stopped()) break;
    FitRun& run = fitted.runs.emplace_back(fit_run(job, spec));
    run.there.at_least = fitted.at_least();
    if (chosen.made) span_others(job, *chosen.made, spec, run);
    if (completed) confirm(recorded, completed->begins_alike, job, spec, run);
  }
  if (question.cards.size() > 1) {
    try_cards(job, strategies, fitted);
  } else if (chosen.recording->format != kPinnedHostFormat) {
    name_cards(job, strategies, fitted);
  }
  return fitted;
}

}  // namespace

std::optional<bool> FittedDevice::known_to_fit(const FitRun& run, const GivenDevice& given,
                                               Bytes capacity) const {
  const bool open = at_least() || (completed && run.interval && capacity < run.interval->high);
  if (!given.fits && !given.may_fit) return false;
  if (!given.fits || open) return std::nullopt;
  return true;
}

const FitRun* FittedDevice::best() const {
  const auto need = [](const FitRun& run) {
    return std::tuple(!run.fit.smallest, run.there.metrics.moved_out_blocks != 0,
                      run.fit.smallest.value_or(0));
  };
  const auto best = std::ranges::min_element(runs, {}, need);
  return best == runs.end() || !best->fit.smallest ? nullptr : &*best;
}

bool FitAnswer::all_fit() const {
  return std::ranges::all_of(devices, [](const FittedDevice& device) {
    const auto is_known_to_fit = [&](const FitRun& run, const std::optional<GivenDevice>& given,
                                     Bytes capacity) {
      return given && device.known_to_fit(run, *given, capacity).value_or(false);
    };
    const bool asked = device.device.capacity_from == CapacityFrom::option;
    if (asked && device.state_beyond) return false;
    for (std::size_t i = 0; i < device.runs.size(); ++i) {
      const FitRun& run = device.runs[i];
      if (asked ? !is_known_to_fit(run, run.fit.given, device.device.capacity.value_or(0))
                : !run.fit.smallest) {
        return false;
      }
      for (const FittedCard& on : device.asked_cards) {
        if (i >= on.runs.size() || !is_known_to_fit(run, on.runs[i], on.card.total)) return false;
      }
    }
    return true;
  });
}

FitAnswer answer(const Inputs& inputs, const FitQuestion& question, const Control& control) {
  FitAnswer answer;
  answer.cards = question.cards;
  for (const Chosen& chosen : inputs.chosen()) {
    if (control.stopped()) break;
    answer.devices.push_back(fitted_device(chosen, question, control));
  }
  answer.interrupted = control.stopped();
  return answer;
}

}  // namespace memreplay

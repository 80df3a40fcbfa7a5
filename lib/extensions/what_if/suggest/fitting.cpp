#include "extensions/what_if/suggest/fitting.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <thread>

#include "program/early_end.hpp"
#include "questions/settings/search.hpp"
#include "run/question.hpp"

namespace memreplay {
namespace {

constexpr std::uint64_t kEventsOfASearch = 50'000'000;
constexpr std::uint64_t kEventsOfAll = 400'000'000;
constexpr std::size_t kJudged = 4;  ///< settings that served, should a late start refuse them

// What -s does not take has no effect on placement.
StrategySpec spec_as_written(const std::string& conf, const std::string& release) {
  const std::vector<OptionInfo>& known = strategy_info("torch").options;
  torch::SettingIssues ignored;
  std::vector<std::string> options;
  for (const auto& [key, value] : torch::split_conf(conf, torch::parse_release(release), ignored)) {
    const bool takes = std::ranges::find(known, key, &OptionInfo::key) != known.end();
    if (takes) options.push_back(fmt::format("{}={}", key, value));
  }
  return parse_strategy(options.empty() ? "torch"
                                        : fmt::format("torch:{}", fmt::join(options, ",")));
}

Run run_of_subject(const Subject& subject, const StrategySpec& spec, const Setup& setup,
                   const Control& control) {
  const LateStart late(subject, replay_options(subject.trace(), setup, control));
  return run(subject, spec, simulated(sized_for(subject, setup)), setup, late, nullptr, control);
}

}  // namespace

FittedProgram::FittedProgram(const Subject& subject, std::span<const Edit> edits)
    : as_it_is_(subject) {
  if (edits.empty()) return;
  made_ = edited(subject, edits);
  edited_.emplace(made_.likeliest.recording, made_.likeliest.trace(), made_.likeliest.origin);
  for (const MadeRecording& other : made_.others) {
    others_.emplace_back(other.recording, other.trace(), other.origin);
  }
}

void BudgetJudge::judge(const FittedProgram& program, const StrategySpec& spec,
                        Suggestion& suggestion) const {
  Setup setup = setup_;
  setup.capacity.reset();
  setup.endless = true;
  const Run run = run_on(program, spec, setup);
  if (run.interrupted()) return;
  suggestion.peak_requested = run.metrics.peak_requested;
  suggestion.peak_reserved = run.metrics.peak_reserved;
  suggestion.interval = run.interval;
  suggestion.at_least = rest_ == RestOfStep::unknown;
  if (rest_ == RestOfStep::as_before) {
    suggestion.still_to_come = run.metrics.peak_requested / kPartsOfRest;
  }
  suggestion.serves = serves(program, spec, suggestion);
  Suggestion recorded = suggestion;
  recorded.still_to_come = 0;
  const bool is_refused =
      !suggestion.serves && (suggestion.still_to_come == 0 || !serves(program, spec, recorded));
  suggestion.fits.reset();
  if (is_refused || (suggestion.serves && !suggestion.at_least)) suggestion.fits = !is_refused;
}

bool BudgetJudge::serves(const FittedProgram& program, const StrategySpec& spec,
                         Suggestion& suggestion) const {
  const Bytes to_come = suggestion.still_to_come;
  const Bytes most =
      suggestion.interval ? suggestion.interval->peak_reserved.high : suggestion.peak_reserved;
  if (most + to_come + held() <= budget_) return true;
  if (budget_ <= to_come + held()) return false;
  // A full device makes an allocator return what it does not need.
  Setup setup = full_device(suggestion);
  setup.stop_at_oom = true;
  const Run full = run_on(program, spec, setup);
  if (full.metrics.ooms > 0 || !full.finished) return false;
  if (!all_serve(program.others(), spec, setup)) return false;
  suggestion.retries = full.metrics.oom_retries;
  suggestion.peak_reserved = full.metrics.peak_reserved;
  suggestion.interval = full.interval;
  return true;
}

bool BudgetJudge::may_fit(const Suggestion& judged) const {
  const auto& interval = judged.interval;
  const Bytes requested =
      interval && interval->peak_requested ? interval->peak_requested->high : judged.peak_requested;
  return requested + judged.still_to_come + held() <= budget_;
}

Setup BudgetJudge::full_device(const Suggestion& judged) const {
  Setup setup = setup_;
  setup.endless = false;
  setup.capacity = budget_ - judged.still_to_come;
  return setup;
}

Run BudgetJudge::run_on(const FittedProgram& program, const StrategySpec& spec,
                        const Setup& setup) const {
  const Subject& likeliest = program.likeliest();
  Run run = run_of_subject(likeliest, spec, setup, control_);
  span_others(program.made(), spec, simulated(sized_for(likeliest, setup)), setup, control_, run);
  return run;
}

bool BudgetJudge::all_serve(const std::deque<Subject>& others, const StrategySpec& spec,
                            const Setup& setup) const {
  return std::ranges::all_of(others, [&](const Subject& other) {
    const Run run = run_of_subject(other, spec, setup, control_);
    return run.finished && run.metrics.ooms == 0;
  });
}

bool FittingSettings::goes_on() const { return events_ < kEventsOfAll && !control_.stopped(); }

TuneResult FittingSettings::tuned(const Subjects& subjects, const Suggestion& as_usual) {
  const Setup setup = judge_.full_device(as_usual);
  TuneOptions tuning;
  std::uint64_t events = 1;
  for (const Subject* subject : subjects) {
    const OpenDevice device = simulated(sized_for(*subject, setup));
    tuning.bench.subjects.push_back(subject);
    tuning.bench.devices.push_back(on_device({}, device, setup).device);
    tuning.bench.assumed_size.push_back(false);
    events += subject->trace().size();
  }
  tuning.objective = Objective::full_device;
  tuning.release = setup.release;
  tuning.runs = std::clamp<std::uint64_t>(kEventsOfASearch / events, 100, 400);
  tuning.threads = std::max(1u, std::thread::hardware_concurrency());
  tuning.replaying = replay_options(subjects.front()->trace(), setup, control_);
  tuning.progress = [&](double share) { control_.show("searching settings", share); };
  TuneResult result = tune(tuning);
  searched_.tried += result.tried;
  searched_.variable = result.variable;
  events_ += result.replayed * events;
  return result;
}

std::optional<Suggestion> FittingSettings::best_of(const TuneResult& result,
                                                   const FittedProgram& program,
                                                   const Suggestion& as_usual) const {
  std::vector<const TuneOutcome*> serving;
  for (const TuneOutcome& outcome : result.outcomes) {
    if (outcome.serves()) serving.push_back(&outcome);
  }
  std::ranges::stable_sort(serving, {}, [](const TuneOutcome* outcome) {
    return complexity(outcome->settings.front());
  });
  serving.resize(std::min(serving.size(), kJudged));
  for (const TuneOutcome* outcome : serving) {
    Suggestion suggestion = as_usual;
    suggestion.conf = result.conf(*outcome);
    const StrategySpec spec = under_release(spec_as_written(suggestion.conf, result.release),
                                            judge_.full_device(as_usual).release);
    suggestion.strategy = spec.text;
    judge_.judge(program, spec, suggestion);
    if (suggestion.serves) return suggestion;
  }
  return std::nullopt;
}

std::optional<Suggestion> FittingSettings::search(const FittedProgram& program,
                                                  const Suggestion& as_usual) {
  ++searched_.programs;
  Subjects subjects = {&program.likeliest()};
  const TuneResult of_likeliest = tuned(subjects, as_usual);
  auto found = best_of(of_likeliest, program, as_usual);
  const bool serves = std::ranges::any_of(of_likeliest.outcomes, &TuneOutcome::serves);
  if (found || !serves || program.others().empty()) return found;
  for (const Subject& other : program.others()) subjects.push_back(&other);
  return best_of(tuned(subjects, as_usual), program, as_usual);
}

}  // namespace memreplay

#include "analysis/suggest/fitting_settings.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "analysis/tune/answer.hpp"
#include "analysis/tune/tune.hpp"

namespace memreplay {
namespace {

constexpr std::uint64_t kEventsOfASearch = 50'000'000;
constexpr std::uint64_t kEventsOfAll = 400'000'000;
constexpr std::size_t kJudged = 4;  ///< settings that served, should a late start refuse them

// What -s does not take has no effect on placement.
StrategySpec spec_as_written(const std::string& conf, const std::string& release) {
  const auto torch = std::ranges::find(strategies(), "torch", &StrategyInfo::name);
  torch::SettingIssues ignored;
  std::vector<std::string> options;
  for (const auto& [key, value] : torch::split_conf(conf, torch::parse_release(release), ignored)) {
    const bool known =
        std::ranges::find(torch->options, key, &OptionInfo::key) != torch->options.end();
    if (known) options.push_back(fmt::format("{}={}", key, value));
  }
  return parse_strategy(options.empty() ? "torch"
                                        : fmt::format("torch:{}", fmt::join(options, ",")));
}

}  // namespace

bool FittingSettings::goes_on() const { return events_ < kEventsOfAll && !control_.stopped(); }

TuneResult FittingSettings::tuned(const Subjects& subjects, const Suggestion& as_usual) {
  const Setup setup = judge_.full_device(as_usual);
  TuneOptions tuning;
  std::uint64_t events = 1;
  for (const Subject* subject : subjects) {
    const OpenDevice device = simulated(sized_for(*subject, setup.device));
    tuning.bench.subjects.push_back(subject);
    tuning.bench.devices.push_back(trial_options(device, setup).device);
    tuning.bench.assumed_size.push_back(false);
    events += subject->trace().size();
  }
  tuning.objective = Objective::full_device;
  tuning.release = setup.release;
  tuning.runs = std::clamp<std::uint64_t>(kEventsOfASearch / events, 100, 400);
  tuning.threads = TuneQuestion().threads;
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
    if (suggestion.fits) return suggestion;
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

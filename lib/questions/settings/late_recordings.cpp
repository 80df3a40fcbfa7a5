#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

#include "core/parallel.hpp"
#include "questions/settings/experiment.hpp"
#include "questions/settings/search.hpp"
#include "run/late_start/late_start.hpp"
#include "run/run.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {
namespace {

/// What an estimate costs, in replays.
constexpr std::uint64_t kCostOfEstimate = 10;
/// So many outcomes are weighed beside what was recommended.
constexpr std::size_t kLeastWeighed = 6;

class Scales {
 public:
  Scales(const TuneOptions& options, TuneResult& result) : options_(options), result_(result) {
    for (const Subject* subject : options.bench.subjects) {
      late_.emplace_back(*subject, options.replaying);
    }
  }

  bool open(const TuneOutcome& outcome) const {
    for (std::size_t i = 0; i < late_.size(); ++i) {
      if (outcome.runs[i].start_matters && late_[i].applies()) return true;
    }
    return false;
  }

  bool settled(const TuneOutcome& outcome) const { return !open(outcome) || outcome.weighed; }

  bool cancelled() const {
    return options_.replaying.stops.cancelled != nullptr &&
           options_.replaying.stops.cancelled->load();
  }

  StrategySpec baseline() const {
    return result_.baseline == "recorded" || result_.strategy != "torch"
               ? parse_strategy(result_.baseline)
               : torch_spec_from_conf(result_.baseline_conf);
  }

  /// Under the recorded settings a recording determines its figures, under others that do the same
  /// from there on it does not.
  void tell_apart() {
    const Setting best = result_.outcomes[result_.best].settings.front();
    std::vector<TuneOutcome> apart;
    for (TuneOutcome& outcome : result_.outcomes) {
      std::vector<Setting>& settings = outcome.settings;
      const auto leaving = std::stable_partition(
          settings.begin(), settings.end(),
          [&](const Setting& setting) { return stays_under(setting, outcome); });
      if (leaving == settings.end()) continue;
      TuneOutcome other = outcome;
      other.settings.assign(leaving, settings.end());
      judge_anew(other);
      settings.erase(leaving, settings.end());
      if (outcome.settings.empty()) {
        outcome = std::move(other);
      } else {
        apart.push_back(std::move(other));
      }
    }
    std::ranges::move(apart, std::back_inserter(result_.outcomes));
    std::ranges::stable_sort(result_.outcomes, [&](const auto& a, const auto& b) {
      return better(a, b, result_.objective);
    });
    const auto has_best = [&](const TuneOutcome& outcome) {
      return std::ranges::find(outcome.settings, best) != outcome.settings.end();
    };
    result_.best = static_cast<std::size_t>(std::ranges::find_if(result_.outcomes, has_best) -
                                            result_.outcomes.begin());
  }

  void weigh() {
    std::vector<TuneOutcome*> chosen = {&result_.baseline_outcome, &result_.outcomes[result_.best]};
    for (TuneOutcome& outcome : result_.outcomes) {
      if (&outcome != chosen[1]) chosen.push_back(&outcome);
    }
    std::erase_if(chosen, [&](const TuneOutcome* outcome) { return !open(*outcome); });
    chosen.resize(std::min(chosen.size(), most_weighed()));
    std::mutex showing;
    std::size_t done = 0;
    for_each_parallel(chosen.size(), options_.threads, [&](std::size_t i) {
      estimate(*chosen[i]);
      const std::lock_guard lock(showing);
      ++done;
      if (options_.progress) {
        options_.progress(static_cast<double>(done) / static_cast<double>(chosen.size()));
      }
    });
  }

  void rank() {
    std::ranges::stable_sort(result_.outcomes, [&](const TuneOutcome& a, const TuneOutcome& b) {
      if (settled(a) != settled(b)) return settled(a);
      if (a.serves() != b.serves()) return a.serves();
      return better(a, b, result_.objective);
    });
    mark_pareto_front(result_.outcomes);
  }

  /// Whether it is better than the baseline, whatever came before.
  bool supports(const TuneOutcome& outcome) const {
    const TuneOutcome& now = result_.baseline_outcome;
    if (!settled(outcome) || outcome.total().ooms > now.total().ooms) return false;
    if (!outcome.serves() || !now.serves()) return outcome.serves();
    return outcome.peak_interval().high < now.peak_interval().low &&
           gains(now.total(), outcome.total(), result_.objective);
  }

  /// By what is likeliest.
  bool gains_by_estimate(const TuneOutcome& outcome) const {
    const TuneOutcome& now = result_.baseline_outcome;
    if (!outcome.serves() || !now.serves()) return outcome.serves();
    return gains(now.total(), outcome.total(), result_.objective);
  }

  /// The best that `counts` takes, see `recommended`; all of those fail where the first does not
  /// serve.
  template <typename Counts>
  std::size_t best_of(Counts counts) const {
    const bool serves = std::ranges::find_if(result_.outcomes, counts)->serves();
    return recommended(
        result_.outcomes, result_.baseline_outcome.total(), result_.objective,
        [&](const TuneOutcome& outcome) { return counts(outcome) && outcome.serves() == serves; });
  }

  /// Whether a recording misses the largest step of its program.
  bool larger_before() const {
    return std::ranges::any_of(late_, [](const LateStart& late) {
      return late.applies() && late.warm().earlier_steps().kind == WarmKind::larger;
    });
  }

 private:
  StrategySpec by_rules(StrategySpec spec) const {
    return under_release(std::move(spec), result_.release);
  }

  /// What an outcome is on one trace, were it that of this setting.
  Run judged_under(const Setting& setting, const TuneOutcome& outcome, std::size_t i) const {
    const Contender contender(*options_.bench.subjects[i], by_rules(spec_of(result_, setting)));
    Run run = judged(contender, {}, options_.bench.devices[i].room(),
                     {.metrics = outcome.runs[i].metrics}, std::nullopt);
    run.start_matters |= result_.baseline_outcome.runs[i].start_matters;
    return run;
  }

  bool stays_under(const Setting& setting, const TuneOutcome& outcome) const {
    for (std::size_t i = 0; i < late_.size(); ++i) {
      const bool matters = judged_under(setting, outcome, i).start_matters;
      if (matters != outcome.runs[i].start_matters) return false;
    }
    return true;
  }

  void judge_anew(TuneOutcome& outcome) const {
    for (std::size_t i = 0; i < late_.size(); ++i) {
      Run run = judged_under(outcome.settings.front(), outcome, i);
      if (run.start_matters != outcome.runs[i].start_matters) outcome.runs[i] = std::move(run);
    }
  }

  std::size_t most_weighed() const {
    std::uint64_t events = 1;
    for (std::size_t i = 0; i < late_.size(); ++i) {
      if (late_[i].applies()) events += options_.bench.subjects[i]->trace().size();
    }
    constexpr std::size_t kAlways = 2;  // the baseline and what was recommended
    const std::uint64_t affordable =
        options_.seconds ? 0 : options_.late_events / kCostOfEstimate / events;
    return std::max<std::uint64_t>(kAlways + kLeastWeighed, affordable);
  }

  // What is cancelled on the way is left as it was.
  void estimate(TuneOutcome& outcome) const {
    const StrategySpec spec = by_rules(&outcome == &result_.baseline_outcome
                                           ? baseline()
                                           : spec_of(result_, outcome.settings.front()));
    std::vector<Run> runs = outcome.runs;
    for (std::size_t i = 0; i < late_.size() && !cancelled(); ++i) {
      if (!runs[i].start_matters || !late_[i].applies()) continue;
      const Contender contender(*options_.bench.subjects[i], spec);
      const auto estimate = late_[i].warm().estimate(contender, options_.bench.devices[i]);
      if (!estimate) continue;
      runs[i] = nearest(spec, *estimate, i);
      enter(*estimate, runs[i]);
    }
    if (cancelled()) return;
    outcome.runs = std::move(runs);
    outcome.weighed = true;
  }

  /// All that is not estimated is of the replay that comes nearest, as in any other answer.
  Run nearest(const StrategySpec& spec, const WarmEstimate& estimate, std::size_t i) const {
    const Bench& bench = options_.bench;
    const bool unknown_size = i < bench.unknown_size.size() && bench.unknown_size[i];
    ReplayOptions replaying = options_.replaying;
    replaying.begin_with = late_[i].warm().beginning(estimate.nearest);
    const Experiment there =
        try_on({{bench.subjects[i]}, {bench.devices[i]}, {bench.assumed_size[i]}, {unknown_size}},
               spec, replaying, {});
    Run run = there.outcome.runs.front();
    run.start_matters = true;
    return run;
  }

  const TuneOptions& options_;
  TuneResult& result_;
  std::deque<LateStart> late_;  ///< by trace
};

}  // namespace

LateVerdict weigh_late_recordings(const TuneOptions& options, TuneResult& result) {
  using Kind = LateVerdict::Kind;
  LateVerdict verdict;
  const bool by_bytes =
      result.objective == Objective::reserved || result.objective == Objective::full_device;
  if (!by_bytes || result.outcomes.empty()) return verdict;
  Scales scales(options, result);
  const auto open = [&](const TuneOutcome& outcome) { return scales.open(outcome); };
  if (!open(result.baseline_outcome) && std::ranges::none_of(result.outcomes, open)) {
    return verdict;
  }
  scales.tell_apart();
  scales.weigh();
  scales.rank();
  const auto settled = [&](const TuneOutcome& outcome) { return scales.settled(outcome); };
  verdict.open = static_cast<std::uint64_t>(std::ranges::count_if(result.outcomes, open));
  verdict.weighed = static_cast<std::uint64_t>(std::ranges::count_if(
      result.outcomes,
      [&](const TuneOutcome& outcome) { return open(outcome) && settled(outcome); }));
  const auto supported = [&](const TuneOutcome& outcome) { return scales.supports(outcome); };
  if (scales.cancelled()) {
    verdict.kind = Kind::interrupted;
    result.best = 0;
  } else if (std::ranges::any_of(result.outcomes, supported)) {
    verdict.kind = Kind::supported;
    result.best = scales.best_of(supported);
  } else {
    result.best = scales.best_of(settled);
    verdict.kind = scales.gains_by_estimate(result.outcomes[result.best]) ? Kind::undecided
                                                                          : Kind::nothing_better;
  }
  if (!scales.cancelled()) note_whether_any_serves(result);
  result.helps = verdict.kind == Kind::supported && !result.shortage;
  verdict.larger_before = !scales.cancelled() && scales.larger_before();
  const TuneOutcome& best = result.outcomes[result.best];
  verdict.best = best.peak_interval();
  verdict.baseline = result.baseline_outcome.peak_interval();
  verdict.setting = result.conf(best);
  name_runs(result);
  return verdict;
}

}  // namespace memreplay

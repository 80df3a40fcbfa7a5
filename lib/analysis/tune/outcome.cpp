#include "analysis/tune/outcome.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <tuple>

#include "analysis/tune/setting.hpp"
#include "metrics/metrics.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {
namespace {

auto rank_of(const TuneOutcome& outcome, Objective objective) {
  const RunSoFar t = outcome.total();
  const std::uint64_t first = objective == Objective::calls     ? t.device_calls
                              : objective == Objective::retries ? t.oom_retries
                                                                : t.peak_reserved;
  return std::make_tuple(t.ooms, first, t.peak_reserved, t.oom_retries, t.device_calls,
                         complexity(outcome.settings.front()), outcome.settings.front());
}

bool same_figures(const Run& a, const Run& b) {
  const OomPlace x = a.metrics.first_oom.value_or(OomPlace{});
  const OomPlace y = b.metrics.first_oom.value_or(OomPlace{});
  return same_figures(a.metrics, b.metrics) && x.event == y.event && x.free == y.free &&
         x.largest_free == y.largest_free;
}

void name_runs(TuneOutcome& outcome, const std::string& strategy, std::size_t place) {
  for (Run& run : outcome.runs) {
    run.strategy = strategy;
    run.place = place;
  }
}

}  // namespace

RunSoFar TuneOutcome::total() const {
  RunSoFar sum;
  for (const Run& run : runs) {
    sum.ooms += run.metrics.ooms;
    sum.oom_retries += run.metrics.oom_retries;
    sum.device_calls += run.device_calls();
    sum.peak_reserved = std::max(sum.peak_reserved, run.metrics.peak_reserved);
  }
  return sum;
}

bool TuneOutcome::is_exact() const { return std::ranges::all_of(runs, &Run::exact); }

bool TuneOutcome::estimated() const {
  return std::ranges::any_of(runs, [](const Run& run) { return run.interval.has_value(); });
}

BytesInterval TuneOutcome::peak_interval() const {
  BytesInterval highest;
  for (const Run& run : runs) {
    const Bytes peak = run.metrics.peak_reserved;
    const BytesInterval own =
        run.interval ? run.interval->peak_reserved : BytesInterval{peak, peak};
    highest = {std::max(highest.low, own.low), std::max(highest.high, own.high)};
  }
  return highest;
}

bool TuneOutcome::serves() const {
  return std::ranges::all_of(
      runs, [](const Run& run) { return run.metrics.ooms == 0 && run.refused_before == 0; });
}

bool better(const TuneOutcome& a, const TuneOutcome& b, Objective objective) {
  return rank_of(a, objective) < rank_of(b, objective);
}

bool comes_near(const RunSoFar& run, const RunSoFar& least, Objective objective) {
  const auto value = [&](const RunSoFar& r) {
    return objective == Objective::calls     ? r.device_calls
           : objective == Objective::retries ? r.oom_retries
                                             : r.peak_reserved;
  };
  return run.ooms == least.ooms && value(run) <= value(least) + value(least) / 100;
}

bool dominates(const RunSoFar& a, const RunSoFar& b) {
  const auto of = [](const RunSoFar& r) {
    return std::array{r.ooms, r.oom_retries, r.peak_reserved, r.device_calls};
  };
  const auto left = of(a);
  const auto right = of(b);
  return left != right && std::ranges::equal(left, right, std::less_equal{});
}

bool same_figures(const TuneOutcome& a, const TuneOutcome& b) {
  return std::ranges::equal(a.runs, b.runs,
                            [](const Run& x, const Run& y) { return same_figures(x, y); });
}

void mark_pareto_front(std::vector<TuneOutcome>& outcomes) {
  std::vector<RunSoFar> totals;
  for (const TuneOutcome& outcome : outcomes) totals.push_back(outcome.total());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].pareto = std::ranges::none_of(
        totals, [&](const RunSoFar& other) { return dominates(other, totals[i]); });
  }
}

void name_runs(TuneResult& result) {
  name_runs(result.baseline_outcome, result.baseline, 0);
  if (result.without_insertions) name_runs(*result.without_insertions, result.baseline, 0);
  std::size_t place = 0;
  for (TuneOutcome& outcome : result.outcomes) {
    name_runs(outcome, torch_spec_from_conf(result.conf(outcome)).text, ++place);
  }
}

}  // namespace memreplay

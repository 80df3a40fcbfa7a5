#include "questions/settings/outcome.hpp"

#include <algorithm>
#include <array>
#include <climits>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>

#include "metrics/metrics.hpp"
#include "program/too_much.hpp"
#include "questions/settings/search.hpp"
#include "questions/settings/setting.hpp"

namespace memreplay {
namespace {

void look_for_shortage(const Bench& bench, TuneResult& result) {
  for (std::size_t i = 0; i < bench.subjects.size() && !result.shortage; ++i) {
    result.shortage = too_much_in(bench.subjects[i]->trace(), bench.devices[i].room());
  }
}

// What the objective looks at, the most important first.
std::vector<std::uint64_t> respects(const RunSoFar& run, Objective objective) {
  switch (objective) {
    case Objective::reserved:
      return {run.peak_reserved};
    case Objective::calls:
      return {run.device_calls};
    case Objective::retries:
      return {run.oom_retries};
    case Objective::full_device:
      return {run.oom_retries, run.peak_reserved};
  }
  return {};
}

bool within_a_hundredth(std::uint64_t value, std::uint64_t least) {
  return value <= least + least / 100;
}

auto rank_of(const TuneOutcome& outcome, Objective objective) {
  const RunSoFar t = outcome.total();
  const std::uint64_t first = respects(t, objective).front();
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

bool TuneOutcome::at_least() const { return std::ranges::any_of(runs, &Run::at_least); }

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

bool TuneOutcome::serves() const { return std::ranges::all_of(runs, &Run::serves); }

bool better(const TuneOutcome& a, const TuneOutcome& b, Objective objective) {
  return rank_of(a, objective) < rank_of(b, objective);
}

bool comes_near(const RunSoFar& run, const RunSoFar& least, Objective objective) {
  return run.ooms == least.ooms &&
         std::ranges::equal(respects(run, objective), respects(least, objective),
                            within_a_hundredth);
}

bool gains(const RunSoFar& now, const RunSoFar& then, Objective objective) {
  if (now.ooms != then.ooms) return then.ooms < now.ooms;
  std::vector<std::uint64_t> before = respects(now, objective);
  std::vector<std::uint64_t> after = respects(then, objective);
  if (objective == Objective::full_device) {
    before.push_back(now.device_calls);
    after.push_back(then.device_calls);
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (!within_a_hundredth(before[i], after[i])) return true;
    if (!within_a_hundredth(after[i], before[i])) return false;
  }
  return false;
}

std::size_t recommended(const std::vector<TuneOutcome>& outcomes, const RunSoFar& now,
                        Objective objective,
                        const std::function<bool(const TuneOutcome&)>& counts) {
  const auto first = std::ranges::find_if(outcomes, counts);
  const RunSoFar least = first->total();
  const auto near = [&](const TuneOutcome& outcome) {
    return counts(outcome) && comes_near(outcome.total(), least, objective);
  };
  const auto simplest = [&](const auto& which) {
    const auto effort = [&](const TuneOutcome& outcome) {
      return which(outcome) ? complexity(outcome.settings.front()) : INT_MAX;
    };
    return std::ranges::min_element(outcomes, {}, effort);
  };
  auto best = simplest(near);
  if (objective == Objective::full_device && !gains(now, best->total(), objective)) {
    std::uint64_t fewest = UINT64_MAX;
    for (const TuneOutcome& outcome : outcomes) {
      if (near(outcome)) fewest = std::min(fewest, outcome.total().device_calls);
    }
    best = simplest([&](const TuneOutcome& outcome) {
      return near(outcome) && within_a_hundredth(outcome.total().device_calls, fewest);
    });
  }
  return static_cast<std::size_t>(best - outcomes.begin());
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

std::vector<RunSoFar> pareto_front(const std::vector<TuneOutcome>& outcomes) {
  std::vector<RunSoFar> totals;
  for (const TuneOutcome& outcome : outcomes) totals.push_back(outcome.total());
  std::vector<RunSoFar> front;
  std::ranges::copy_if(totals, std::back_inserter(front), [&](const RunSoFar& total) {
    return std::ranges::none_of(totals,
                                [&](const RunSoFar& other) { return dominates(other, total); });
  });
  return front;
}

void mark_pareto_front(std::vector<TuneOutcome>& outcomes) {
  const std::vector<RunSoFar> front = pareto_front(outcomes);
  for (TuneOutcome& outcome : outcomes) {
    const RunSoFar total = outcome.total();
    outcome.pareto =
        std::ranges::none_of(front, [&](const RunSoFar& other) { return dominates(other, total); });
  }
}

void name_runs(TuneResult& result) {
  name_runs(result.baseline_outcome, result.baseline, 0);
  if (result.without_insertions) name_runs(*result.without_insertions, result.baseline, 0);
  std::size_t place = 0;
  for (TuneOutcome& outcome : result.outcomes) {
    name_runs(outcome, spec_of(result, outcome.settings.front()).text, ++place);
  }
}

std::size_t add_outcome(TuneOutcome outcome, TuneResult& result) {
  const auto same = std::ranges::find_if(
      result.outcomes, [&](const TuneOutcome& other) { return same_figures(other, outcome); });
  const auto number = static_cast<std::size_t>(same - result.outcomes.begin());
  if (same == result.outcomes.end()) result.outcomes.push_back(std::move(outcome));
  return number;
}

void conclude(const TuneOptions& options, TuneResult& result) {
  for (TuneOutcome& outcome : result.outcomes) {
    std::ranges::sort(outcome.settings, [](const Setting& a, const Setting& b) {
      return std::pair(complexity(a), a) < std::pair(complexity(b), b);
    });
  }
  std::ranges::stable_sort(result.outcomes, [&](const auto& a, const auto& b) {
    return better(a, b, result.objective);
  });
  mark_pareto_front(result.outcomes);
  const RunSoFar now = result.baseline_outcome.total();
  result.best =
      recommended(result.outcomes, now, result.objective, [](const TuneOutcome&) { return true; });
  look_for_shortage(options.bench, result);
  note_whether_any_serves(result);
  const TuneOutcome& best = result.outcomes[result.best];
  result.helps = !result.shortage && (best.serves() || result.baseline_outcome.serves()) &&
                 gains(now, best.total(), result.objective);
  name_runs(result);
}

void note_whether_any_serves(TuneResult& result) {
  result.none_serves = result.finished && !result.baseline_outcome.serves() &&
                       std::ranges::none_of(result.outcomes, &TuneOutcome::serves);
}

}  // namespace memreplay

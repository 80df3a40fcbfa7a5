#include "analysis/tune/conclusion.hpp"

#include <algorithm>
#include <utility>

#include "analysis/verdict/too_much.hpp"

namespace memreplay {
namespace {

void look_for_shortage(const Bench& bench, TuneResult& result) {
  for (std::size_t i = 0; i < bench.subjects.size() && !result.shortage; ++i) {
    result.shortage = too_much_in(bench.subjects[i]->trace(), bench.devices[i].room());
  }
}

}  // namespace

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

#include "analysis/tune/conclusion.hpp"

#include <algorithm>
#include <utility>

#include "analysis/tune/shortage.hpp"

namespace memreplay {
namespace {

void look_for_shortage(const TuneOptions& options, TuneResult& result) {
  const std::vector<Run>& runs = result.baseline_outcome.runs;
  for (std::size_t i = 0; i < runs.size() && !result.shortage; ++i) {
    const Trace& trace = options.bench.subjects[i]->trace();
    result.shortage =
        shortage_of(runs[i], trace, options.replaying.program.to, options.bench.devices[i].room());
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
  look_for_shortage(options, result);
  result.helps =
      !result.shortage && gains(now, result.outcomes[result.best].total(), result.objective);
  name_runs(result);
}

}  // namespace memreplay

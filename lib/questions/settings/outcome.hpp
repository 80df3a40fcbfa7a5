#pragma once

#include <functional>
#include <vector>

#include "questions/settings/result.hpp"

namespace memreplay {

/// Sorts by OOMs first, since who serves less needs less; then by the objective, then by the other
/// ones among reserved peak, retries and device calls; then by simplicity.
bool better(const TuneOutcome& a, const TuneOutcome& b, Objective objective);

/// `run` serves as much as `least`, and comes within a hundredth of it by the objective.
bool comes_near(const RunSoFar& run, const RunSoFar& least, Objective objective);

/// `then` is better than `now` by more than a hundredth in the first respect of the objective in
/// which they differ by as much. Where the device was full, device calls are the last respect.
bool gains(const RunSoFar& now, const RunSoFar& then, Objective objective);

/// The simplest that `counts` takes, which is at least one, within a hundredth of the first; where
/// it gains nothing over `now` on a full device, the simplest with the fewest device calls there.
std::size_t recommended(const std::vector<TuneOutcome>& outcomes, const RunSoFar& now,
                        Objective objective, const std::function<bool(const TuneOutcome&)>& counts);

/// `a` is nowhere worse than `b`, and not the same.
bool dominates(const RunSoFar& a, const RunSoFar& b);

/// Whether two outcomes agree in every figure that a report shows, times and counters aside.
bool same_figures(const TuneOutcome& a, const TuneOutcome& b);

/// What those came to that no other one dominates. O(outcomes²).
std::vector<RunSoFar> pareto_front(const std::vector<TuneOutcome>& outcomes);

/// Sets `pareto` of every outcome. O(outcomes²).
void mark_pareto_front(std::vector<TuneOutcome>& outcomes);

/// Names the runs by baseline and settings, and gives those of outcomes their places.
void name_runs(TuneResult& result);

}  // namespace memreplay

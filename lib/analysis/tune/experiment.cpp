#include "analysis/tune/experiment.hpp"

#include <algorithm>

#include "analysis/run/run.hpp"

namespace memreplay {
namespace {

// With what other traces came to before.
RunSoFar sum(const RunSoFar& before, const RunSoFar& now) {
  return {before.ooms + now.ooms, before.oom_retries + now.oom_retries,
          std::max(before.peak_reserved, now.peak_reserved),
          before.device_calls + now.device_calls};
}

}  // namespace

Experiment try_on(const Bench& bench, const StrategySpec& spec, ReplayOptions replaying,
                  const std::vector<RunSoFar>& front) {
  Experiment experiment;
  RunSoFar before;
  if (!front.empty()) {
    replaying.stops.hopeless = [&](const RunSoFar& so_far) {
      const RunSoFar total = sum(before, so_far);
      experiment.given_up = std::ranges::any_of(
          front, [&](const RunSoFar& other) { return dominates(other, total); });
      return experiment.given_up;
    };
  }
  for (std::size_t i = 0; i < bench.subjects.size() && !experiment.given_up; ++i) {
    const Subject& subject = *bench.subjects[i];
    replaying.program.refusals_stand = i < bench.unknown_size.size() && bench.unknown_size[i];
    Trial trial(subject, spec, {.device = bench.devices[i]});
    ReplayResult result = trial.run(replaying);
    experiment.cancelled |= !result.finished && !experiment.given_up;
    if (const auto* torch = dynamic_cast<const torch::Allocator*>(&trial.strategy())) {
      experiment.shown.narrow(*torch);
    }
    Run& run = experiment.outcome.runs.emplace_back(
        judged(subject, spec, Setup{}, bench.devices[i].room(), std::move(result), std::nullopt));
    if (run.exact && !run.as_recorded && bench.assumed_size[i] && trial.usage().refusals > 0) {
      run.exact = false;
      run.inexact_because =
          "how large the device was is not in the recording, and here it was full";
    }
    before = experiment.outcome.total();
  }
  return experiment;
}

}  // namespace memreplay

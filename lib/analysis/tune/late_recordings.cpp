#include "analysis/tune/late_recordings.hpp"

#include <algorithm>
#include <memory>
#include <vector>

#include "analysis/warm_start/warm_start.hpp"
#include "replay/what_if.hpp"
#include "strategy/torch/settings.hpp"

namespace memreplay {
namespace {

/// Of the outcomes that look better than the baseline, so many are weighed.
constexpr std::size_t kWeighed = 6;

struct Weight {
  BytesInterval peak;
  bool fits = true;
};

class Scales {
 public:
  explicit Scales(const TuneOptions& options, const TuneResult& result)
      : options_(options), result_(result) {
    for (const Subject* subject : options.bench.subjects) {
      late_.push_back(WarmStart::applies_to(*subject)
                          ? std::make_unique<WarmStart>(*subject, options.replaying)
                          : nullptr);
    }
  }

  bool any_late() const {
    return std::ranges::any_of(late_, [](const auto& warm) { return warm != nullptr; });
  }

  // Of all traces together, as TuneOutcome::total has it.
  Weight of(const TuneOutcome& outcome, const StrategySpec& spec) const {
    Weight weight;
    for (std::size_t i = 0; i < late_.size(); ++i) {
      const RunMetrics& m = outcome.metrics[i];
      BytesInterval peak{m.peak_reserved, m.peak_reserved};
      bool fits = m.ooms == 0;
      if (late_[i] != nullptr && !outcome.inexact_because[i].empty()) {
        const auto estimate =
            late_[i]->estimate(spec, result_.torch_version, options_.bench.devices[i]);
        if (estimate) {
          peak = estimate->peak_reserved.interval;
          fits = estimate->fits;
        }
      }
      weight.peak = {std::max(weight.peak.low, peak.low), std::max(weight.peak.high, peak.high)};
      weight.fits = weight.fits && fits;
    }
    return weight;
  }

 private:
  const TuneOptions& options_;
  const TuneResult& result_;
  std::vector<std::unique_ptr<WarmStart>> late_;  ///< by trace; null: it begins empty
};

}  // namespace

LateVerdict weigh_late_recordings(const TuneOptions& options, TuneResult& result) {
  LateVerdict verdict;
  if (!result.helps || result.objective != Objective::reserved) return verdict;
  const Scales scales(options, result);
  if (!scales.any_late()) return verdict;
  verdict.looked = true;
  const Weight baseline =
      scales.of(result.baseline_outcome, result.baseline == "recorded"
                                             ? parse_strategy("recorded")
                                             : torch_spec_from_conf(result.baseline_conf));
  verdict.baseline = baseline.peak;
  std::vector<std::size_t> candidates = {result.best};
  for (std::size_t i = 0; i < result.outcomes.size() && candidates.size() < kWeighed; ++i) {
    if (i != result.best && better(result.outcomes[i], result.baseline_outcome, result.objective)) {
      candidates.push_back(i);
    }
  }
  for (const std::size_t i : candidates) {
    const TuneOutcome& outcome = result.outcomes[i];
    const std::string conf = conf_of(outcome.settings.front(), result.kept);
    const Weight weight = scales.of(outcome, torch_spec_from_conf(conf));
    if (i == result.best) {
      verdict.best = weight.peak;
      verdict.setting = conf;
    }
    const bool serves_more = weight.fits && !baseline.fits;
    if (!serves_more && (weight.peak.high >= baseline.peak.low || weight.fits < baseline.fits)) {
      continue;
    }
    result.best = i;
    verdict.supported = true;
    verdict.best = weight.peak;
    verdict.setting = conf;
    return verdict;
  }
  result.helps = false;
  return verdict;
}

}  // namespace memreplay

#include "analysis/tune/outcome.hpp"

#include <algorithm>
#include <tuple>

namespace memreplay {
namespace {

std::uint64_t device_calls(const RunMetrics& m) {
  return m.device_allocs + m.device_frees + m.device_maps + m.device_unmaps;
}

auto rank_of(const TuneOutcome& outcome, Objective objective) {
  const RunSoFar t = outcome.total();
  const std::uint64_t first = objective == Objective::calls     ? t.device_calls
                              : objective == Objective::retries ? t.oom_retries
                                                                : t.peak_reserved;
  return std::make_tuple(t.ooms, first, t.peak_reserved, t.oom_retries, t.device_calls,
                         complexity(outcome.settings.front()), outcome.settings.front());
}

auto figures_of(const RunMetrics& m) {
  const OomPlace oom = m.first_oom.value_or(OomPlace{});
  return std::make_tuple(
      std::tie(m.peak_requested, m.peak_allocated, m.peak_reserved, m.gap_at_peak_reserved,
               m.end_requested, m.end_allocated, m.end_reserved, m.external_fragmentation),
      std::tie(m.ooms, m.oom_retries, m.device_allocs, m.device_frees, m.device_maps,
               m.device_unmaps, m.syncs, m.stream_waits, m.segments_peak, m.segments_end),
      oom.event, oom.free, oom.largest_free);
}

}  // namespace

RunSoFar TuneOutcome::total() const {
  RunSoFar sum;
  for (const RunMetrics& m : metrics) {
    sum.ooms += m.ooms;
    sum.oom_retries += m.oom_retries;
    sum.device_calls += device_calls(m);
    sum.peak_reserved = std::max(sum.peak_reserved, m.peak_reserved);
  }
  return sum;
}

bool TuneOutcome::estimated() const {
  return std::ranges::any_of(late, [](const auto& figures) { return figures.has_value(); });
}

BytesInterval TuneOutcome::peak_interval() const {
  BytesInterval highest;
  for (std::size_t i = 0; i < metrics.size(); ++i) {
    const Bytes peak = metrics[i].peak_reserved;
    const bool estimated = !late.empty() && late[i];
    const BytesInterval own =
        estimated ? late[i]->interval.peak_reserved : BytesInterval{peak, peak};
    highest = {std::max(highest.low, own.low), std::max(highest.high, own.high)};
  }
  return highest;
}

bool TuneOutcome::serves() const {
  return total().ooms == 0 &&
         std::ranges::all_of(late, [](const auto& figures) { return !figures || figures->fits; });
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
  return std::ranges::equal(a.metrics, b.metrics, [](const RunMetrics& x, const RunMetrics& y) {
    return figures_of(x) == figures_of(y);
  });
}

void mark_pareto_front(std::vector<TuneOutcome>& outcomes) {
  std::vector<RunSoFar> totals;
  for (const TuneOutcome& outcome : outcomes) totals.push_back(outcome.total());
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    outcomes[i].pareto = std::ranges::none_of(
        totals, [&](const RunSoFar& other) { return dominates(other, totals[i]); });
  }
}

}  // namespace memreplay

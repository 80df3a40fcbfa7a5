#include <algorithm>
#include <numeric>
#include <tuple>

#include "analysis/run/answer.hpp"

namespace memreplay {
namespace {

auto rank_of(const Run& run) {
  const RunMetrics& m = run.metrics;
  const std::uint64_t behind = run.stopped_at_oom ? UINT64_MAX - m.first_oom->event : 0;
  // What fits by moving blocks away comes after what fits.
  return std::make_tuple(run.interrupted(), m.ooms, behind, m.moved_out_blocks != 0,
                         m.peak_reserved, m.oom_retries, run.device_calls());
}

}  // namespace

void set_places(std::vector<Run>& runs) {
  std::vector<std::size_t> order(runs.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return rank_of(runs[a]) < rank_of(runs[b]);
  });
  for (std::size_t i = 0; i < order.size(); ++i) runs[order[i]].place = i + 1;
}

void sort_by_place(std::vector<Run>& runs) {
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) { return a.place < b.place; });
}

std::vector<TraceRuns> ReplayAnswer::shown() const {
  std::vector<TraceRuns> shown = traces;
  if (!ranked) return shown;
  for (TraceRuns& trace : shown) sort_by_place(trace.runs);
  return shown;
}

std::size_t worst_of(const std::vector<TraceRuns>& reports) {
  std::size_t worst = 0;
  const auto badness = [&](std::size_t i) {
    if (reports[i].runs.empty() || reports[i].runs.front().interrupted()) {
      return std::make_tuple(false, std::uint64_t{0}, Bytes{0});
    }
    const RunMetrics& m = reports[i].runs.front().metrics;
    return std::make_tuple(true, m.ooms, m.peak_reserved);
  };
  for (std::size_t i = 1; i < reports.size(); ++i) {
    if (badness(i) > badness(worst)) worst = i;
  }
  return worst;
}

}  // namespace memreplay

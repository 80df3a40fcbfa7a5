#include "analysis/ranks/answer.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "analysis/explain/question.hpp"
#include "analysis/ranks/classes.hpp"
#include "analysis/ranks/question.hpp"
#include "analysis/tune/question.hpp"
#include "core/error.hpp"

namespace memreplay {
namespace {

// The worst last.
auto fares(const RankRow& row, std::size_t run) {
  // The lowest rank among equals counts as the worst, so that it is named.
  return std::tuple(row.runs[run].ooms, row.runs[run].peak_reserved, ~row.rank);
}

Spread spread_of(const std::vector<RankRow>& rows, const RankMetric& metric, std::size_t run) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> values;  // with ranks
  for (const RankRow& row : rows) values.emplace_back(metric.of(row, row.runs[run]), row.rank);
  std::ranges::sort(values);
  const auto highest = std::ranges::lower_bound(values, std::pair(values.back().first, 0ul));
  return {.min = values.front().first,
          .median = values[(values.size() - 1) / 2].first,
          .max = highest->first,
          .min_rank = values.front().second,
          .max_rank = highest->second};
}

RanksUnder under(const std::vector<RankRow>& rows, std::size_t run) {
  RanksUnder all;
  std::set<std::string> names;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    names.insert(rows[i].runs[run].strategy);
    if (fares(rows[i], run) > fares(rows[all.worst], run)) all.worst = i;
    all.out_of_memory += rows[i].runs[run].ooms > 0;
  }
  for (const std::string& name : names) {
    all.strategy += (all.strategy.empty() ? "" : " or ") + name;
  }
  for (const RankMetric& metric : rank_metrics()) {
    all.spreads.push_back(spread_of(rows, metric, run));
  }
  return all;
}

auto need(const RanksUnder& all, const std::vector<RankRow>& rows, std::size_t run) {
  std::uint64_t ooms = 0;
  for (const RankRow& row : rows) ooms += row.runs[run].ooms;
  return std::tuple(ooms, all.spreads.front().max);
}

}  // namespace

const std::vector<RankMetric>& rank_metrics() {
  using In = const RankRow&;
  using By = const RankRun&;
  static const std::vector<RankMetric> kMetrics = {
      {"peak_reserved_bytes", "peak reserved", true, [](In, By r) { return r.peak_reserved; }},
      {"peak_allocated_bytes", "peak allocated", true, [](In, By r) { return r.peak_allocated; }},
      {"peak_requested_bytes", "peak requested", true, [](In, By r) { return r.peak_requested; }},
      {"gap_bytes", "gap", true, [](In, By r) { return r.gap(); }},
      {"ooms", "OOMs", false, [](In, By r) { return r.ooms; }},
      {"oom_retries", "retries", false, [](In, By r) { return r.oom_retries; }},
      {"events", "events", false, [](In row, By) { return row.events; }},
  };
  return kMetrics;
}

std::size_t RanksAnswer::class_of(const RankRow& row) const {
  const auto found = std::ranges::find(classes, row.stream, &RankClass::stream);
  return static_cast<std::size_t>(found - classes.begin());
}

RanksAnswer answer(RanksPart part) {
  RanksAnswer answer{.part = std::move(part)};
  std::vector<RankRow>& rows = answer.part.rows;
  if (rows.empty()) return answer;
  answer.classes = classes_of(rows, answer.part.streams);
  std::ranges::sort(rows,
                    [](const RankRow& a, const RankRow& b) { return fares(a, 0) > fares(b, 0); });
  std::map<std::uint64_t, Bytes> peak_of;
  for (const RankRow& row : rows) peak_of[row.rank] = row.runs.front().peak_reserved;
  for (std::size_t run = 0; run < rows.front().runs.size(); ++run) {
    answer.under.push_back(under(rows, run));
    const auto better = need(answer.under[run], rows, run);
    if (better < need(answer.under[answer.best], rows, answer.best)) answer.best = run;
  }
  answer.stages = stages_of(answer.classes, peak_of);
  return answer;
}

void explain_worst(RanksAnswer& answer, const RanksQuestion& question, const Control& control) {
  if (!answer.ran_out()) return;
  const RankRow& worst = answer.part.rows.front();
  InputOptions input = question.input;
  input.paths = {worst.path};
  input.gpu = worst.gpu;
  input.read.progress = {};
  input.read.note = [](const std::string&) {};  // said when it was read first
  ExplainQuestion why{.setup = question.setup};
  if (!question.strategies.empty()) why.strategy = question.strategies.front();
  try {
    ExplainAnswer explained = memreplay::answer(Inputs(input), why, {.stop = control.stop});
    if (explained.devices.size() == 1) answer.why = std::move(explained.devices.front());
  } catch (const InputError&) {  // it is gone: the rows of it stay true
  }
}

void tune(RanksAnswer& answer, const RanksQuestion& question, const Control& control) {
  InputOptions input = question.input;
  input.paths.clear();
  for (const RankClass& c : answer.classes) input.paths.push_back(c.representative);
  const TuneQuestion tuning{.setup = question.setup, .threads = question.jobs};
  answer.tuned = memreplay::answer(Inputs(input), tuning, control);
}

}  // namespace memreplay

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/text.hpp"
#include "metrics/metrics.hpp"
#include "questions/replay/replay_report.hpp"
#include "report/parts/paragraphs.hpp"
#include "report/parts/sentences.hpp"
#include "report/parts/sizes.hpp"

namespace memreplay {
namespace {

// Where operations were timed, without what was done to blocks between them.
std::string ns_per_op(const RunMetrics& m) {
  const bool timed = m.times && m.times->ops.count() != 0;
  const double ns =
      timed ? static_cast<double>(m.times->ops.sum()) / static_cast<double>(m.times->ops.count())
            : m.replay_seconds * 1e9 / static_cast<double>(m.events);
  return std::isfinite(ns) && m.events != 0 ? fmt::format("{:.0f}", ns) : "-";
}

// Reserved below allocated cannot be, but a strategy that breaks the rules must not print 16 EiB.
std::string gap_text(const RunMetrics& m) {
  return m.peak_reserved >= m.peak_allocated ? human_size(m.gap())
                                             : "-" + human_size(m.peak_allocated - m.peak_reserved);
}

// "≈ 665 MiB (539 to 1454)": the unit once, where it is the same.
std::string estimated_cell(Bytes bytes, const BytesInterval& interval) {
  const std::string estimate = human_size(bytes);
  const std::string unit = estimate.substr(estimate.find(' '));
  std::string low = human_size(interval.low);
  std::string high = human_size(interval.high);
  if (low == high || !low.ends_with(unit) || !high.ends_with(unit)) {
    return estimated_text(bytes, interval);
  }
  low.resize(low.size() - unit.size());
  high.resize(high.size() - unit.size());
  return fmt::format("≈ {} ({} to {})", estimate, low, high);
}

std::string value_text(const MetricValue& value) {
  struct Text {
    std::string operator()(std::monostate) const { return "-"; }
    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(double value) const { return fmt::format("{:.6g}", value); }
    std::string operator()(std::uint64_t value) const { return std::to_string(value); }
    std::string operator()(std::int64_t value) const { return std::to_string(value); }
  };
  return std::visit(Text{}, value);
}

}  // namespace

Table run_table(const std::vector<Run>& runs, bool with_lower_bound,
                const std::optional<PlannedFloor>& planned) {
  std::vector<Bytes> sizes;  // in use and reserved, run by run
  for (const Run& run : runs) {
    sizes.insert(sizes.end(), {run.metrics.peak_allocated, run.metrics.peak_reserved});
  }
  const bool with_plan = with_lower_bound && planned && planned->left_out_because.empty();
  if (with_lower_bound) sizes.push_back(runs.front().metrics.peak_requested);
  if (with_plan) sizes.push_back(planned->height);
  const std::vector<std::string> shown = sizes_beside(sizes);
  Table table{{left("strategy"), "MaxInUse", "reserved", spare("gap", 3), "OOM",
               spare("retries", 2), spare("device calls", 1)}};
  // One replay says more of the machine than of the strategy.
  const bool timed = std::ranges::any_of(
      runs, [](const Run& run) { return run.metrics.repeat_seconds.size() > 1; });
  if (timed) table.columns.push_back({"ns/op"});
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const Run& run = runs[i];
    const RunMetrics& m = run.metrics;
    const bool shows_interval = run.interval && !run.at_least;
    const std::string reserved = run.interval ? reserved_text(run) : shown[2 * i + 1];
    table.add(run.name() + mark(run), bounded(shown[2 * i], run.at_least),
              shows_interval ? estimated_cell(m.peak_reserved, run.interval->peak_reserved)
                             : bounded(reserved, run.at_least && !run.interval),
              gap_text(m), human_count(m.ooms), human_count(m.oom_retries),
              human_count(run.device_calls()));
    if (timed) table.rows.back().back() = ns_per_op(m);
  }
  if (with_lower_bound) table.add("lower bound (requested)", shown[2 * runs.size()]);
  if (with_plan) {
    table.add(planned->optimal() ? "planned (proved optimal)" : "planned", shown.back());
  }
  return table;
}

Table to_table(const ReplayAnswer& answer) {
  Table table{{left("trace"), "gpu", "place", left("strategy"), "exact"}};
  for (const Metric& metric : metrics()) {
    if (metric.in_csv) table.columns.emplace_back(std::string(metric.key));
  }
  table.columns.insert(table.columns.end(), {left("device"), left("bound"),
                                             "peak_reserved_low_bytes", "peak_reserved_high_bytes",
                                             "end_reserved_low_bytes", "end_reserved_high_bytes"});
  for (const TraceRuns& trace : answer.shown()) {
    for (const Run& run : trace.runs) {
      std::vector<std::string> row = {trace.trace.path, std::to_string(run.gpu),
                                      std::to_string(run.place), run.strategy,
                                      run.exact ? "true" : "false"};
      for (const Metric& metric : metrics()) {
        if (metric.in_csv) row.push_back(value_text(metric.of(run.metrics)));
      }
      row.push_back(run.device.text);
      row.emplace_back(run.at_least ? "lower" : "");
      const RunInterval none;
      const auto& [peak, end, requested] = run.interval ? *run.interval : none;
      for (const Bytes bound : {peak.low, peak.high, end.low, end.high}) {
        row.push_back(run.interval ? std::to_string(bound) : "");
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace memreplay

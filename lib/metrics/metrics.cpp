#include "metrics/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

std::vector<CheckedMetric> in_order_of_importance() {
  std::vector<const Metric*> rows;
  for (const Metric& metric : metrics()) {
    if (!metric.check.word.empty()) rows.push_back(&metric);
  }
  std::ranges::sort(rows, {}, [](const Metric* metric) { return metric->check.rank; });
  std::vector<CheckedMetric> checked;
  for (const Metric* metric : rows) {
    checked.push_back({.name = metric->key,
                       .word = metric->check.word,
                       .in_bytes = metric->unit == Metric::Unit::bytes,
                       .by_default = metric->check.by_default,
                       .metric = metric});
  }
  return checked;
}

using M = RunMetrics;
using V = MetricValue;
using Unit = Metric::Unit;

V finite(double value) { return std::isfinite(value) ? V(value) : V(); }

// Blocks that are moved out still count as requested, but not as reserved.
V efficiency(const M& m) {
  if (m.moved_out_blocks != 0) return {};
  return finite(static_cast<double>(m.peak_requested) / static_cast<double>(m.peak_reserved));
}

constexpr Metric kMetrics[] = {
    {"peak_requested_bytes",
     "requested",
     Unit::bytes,
     "peak of the sizes asked for by live blocks",
     [](const M& m) -> V { return m.peak_requested; },
     true,
     true,
     {"peak requested", 3}},
    {"peak_allocated_bytes",
     "MaxInUse",
     Unit::bytes,
     "the same after the strategy's rounding",
     [](const M& m) -> V { return m.peak_allocated; },
     true,
     true,
     {"peak allocated", 2, true}},
    {"peak_reserved_bytes",
     "reserved",
     Unit::bytes,
     "peak of the bytes held from the device",
     [](const M& m) -> V { return m.peak_reserved; },
     true,
     true,
     {"peak reserved", 1, true}},
    {"gap_bytes",
     "gap",
     Unit::bytes,
     "peak reserved - peak allocated",
     [](const M& m) -> V { return static_cast<std::int64_t>(m.gap()); },
     true,
     true,
     {"gap", 4}},
    {"gap_at_peak_reserved_bytes", "", Unit::bytes,
     "reserved - allocated when reserved was highest",
     [](const M& m) -> V { return m.gap_at_peak_reserved; }},
    {"end_requested_bytes",
     "",
     Unit::bytes,
     "requested after the last event",
     [](const M& m) -> V { return m.end_requested; },
     true,
     true,
     {"end requested", 7}},
    {"end_allocated_bytes",
     "",
     Unit::bytes,
     "allocated after the last event",
     [](const M& m) -> V { return m.end_allocated; },
     true,
     true,
     {"end allocated", 6}},
    {"end_reserved_bytes",
     "",
     Unit::bytes,
     "reserved after the last event",
     [](const M& m) -> V { return m.end_reserved; },
     true,
     true,
     {"end reserved", 5}},
    {"internal_fragmentation", "internal", Unit::share,
     "1 - requested / allocated at the allocated peak",
     [](const M& m) -> V { return finite(m.internal_fragmentation); }},
    {"external_fragmentation", "external", Unit::share,
     "1 - largest free / all free at the reserved peak",
     [](const M& m) -> V { return finite(m.external_fragmentation); }},
    {"lower_bound_bytes", "lower bound", Unit::bytes,
     "peak of live bytes under the strategy's rounding",
     [](const M& m) -> V { return m.lower_bound; }, true, true},
    {"efficiency", "", Unit::share, "peak requested / peak reserved", efficiency},
    {"ooms",
     "OOM",
     Unit::times,
     "requests that were not served",
     [](const M& m) -> V { return m.ooms; },
     true,
     true,
     {"OOMs", 8}},
    {"oom_retries",
     "retries",
     Unit::times,
     "refused device allocations answered by a release",
     [](const M& m) -> V { return m.oom_retries; },
     true,
     true,
     {"OOM retries", 9}},
    {"first_oom", "", Unit::parts, "event, size and free memory of the first OOM"},
    {"recorded_ooms_served", "", Unit::times,
     "requests served here that were refused when recorded",
     [](const M& m) -> V { return m.recorded_ooms_served; }},
    {"device_allocs",
     "device calls",
     Unit::times,
     "regions obtained from the device",
     [](const M& m) -> V { return m.device_allocs; },
     true,
     true,
     {"device allocs", 10}},
    {"device_frees",
     "device calls",
     Unit::times,
     "regions returned to the device",
     [](const M& m) -> V { return m.device_frees; },
     true,
     true,
     {"device frees", 11}},
    {"device_maps",
     "device calls",
     Unit::times,
     "memory mapped into reserved addresses",
     [](const M& m) -> V { return m.device_maps; },
     true,
     true,
     {"device maps", 12}},
    {"device_unmaps",
     "device calls",
     Unit::times,
     "memory unmapped from reserved addresses",
     [](const M& m) -> V { return m.device_unmaps; },
     true,
     true,
     {"device unmaps", 13}},
    {"syncs",
     "",
     Unit::times,
     "times the strategy waited for the device",
     [](const M& m) -> V { return m.syncs; },
     true,
     false,
     {"syncs", 14}},
    {"stream_waits",
     "",
     Unit::times,
     "times a stream waited for another",
     [](const M& m) -> V { return m.stream_waits; },
     true,
     false,
     {"stream waits", 15}},
    {"segments_peak",
     "",
     Unit::times,
     "most regions held at once",
     [](const M& m) -> V { return m.segments_peak; },
     true,
     false,
     {"peak segments", 16}},
    {"segments_end",
     "",
     Unit::times,
     "regions held after the last event",
     [](const M& m) -> V { return m.segments_end; },
     true,
     false,
     {"end segments", 17}},
    {"replay_seconds", "", Unit::seconds, "seconds replayed, the median of several",
     [](const M& m) -> V { return finite(m.replay_seconds); }, false, true},
    {"modelled_device_seconds", "", Unit::seconds, "seconds of device calls by the model",
     [](const M& m) -> V { return finite(m.modelled_device_seconds); }, false, true},
    {"clairvoyant", "", Unit::flag, "placed by a plan made from the requests that it serves",
     [](const M& m) -> V { return m.clairvoyant; }, true, true},
    {"moved_out_blocks", "", Unit::times, "live blocks that left the device",
     [](const M& m) -> V { return m.moved_out_blocks; }, true, true},
    {"moved_out_bytes", "", Unit::bytes, "allocated bytes of those blocks",
     [](const M& m) -> V { return m.moved_out; }},
    {"modelled_stall_seconds", "", Unit::seconds, "seconds of transfers that the strategy needed",
     [](const M& m) -> V { return finite(m.stall_seconds); }, false, true},
    {"timing", "ns/op", Unit::parts, "seconds of the replay, and modelled seconds of device calls"},
    {"counters", "", Unit::parts, "the strategy's own statistics, under the original's names"},
};

}  // namespace

std::span<const Metric> metrics() { return kMetrics; }

bool same_figures(const RunMetrics& a, const RunMetrics& b) {
  return std::ranges::all_of(kMetrics, [&](const Metric& metric) {
    return metric.of == nullptr || metric.unit == Unit::seconds || metric.of(a) == metric.of(b);
  });
}

std::uint64_t CheckedMetric::of(const RunMetrics& run) const {
  const MetricValue value = metric->of(run);
  if (const auto* difference = std::get_if<std::int64_t>(&value)) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, *difference));
  }
  return std::get<std::uint64_t>(value);
}

std::span<const CheckedMetric> checked_metrics() {
  static const std::vector<CheckedMetric> kMetrics = in_order_of_importance();
  return kMetrics;
}

const CheckedMetric& checked_metric(std::string_view name) {
  std::vector<std::string> names;
  for (const CheckedMetric& metric : checked_metrics()) {
    if (metric.name == name) return metric;
    names.emplace_back(metric.name);
  }
  throw UsageError(fmt::format("unknown metric '{}'{} (a check takes {})", name,
                               did_you_mean(name, names), fmt::join(names, ", ")));
}

}  // namespace memreplay

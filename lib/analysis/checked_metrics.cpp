#include "analysis/checked_metrics.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"

namespace memreplay {
namespace {

// A run that holds less from the device than it charges has no gap.
std::uint64_t gap(const RunMetrics& m) { return m.peak_reserved > m.peak_allocated ? m.gap() : 0; }

}  // namespace

std::span<const CheckedMetric> checked_metrics() {
  using M = RunMetrics;
  static constexpr CheckedMetric kMetrics[] = {
      {"peak_reserved_bytes", "peak reserved", true, true,
       [](const M& m) { return m.peak_reserved; }},
      {"peak_allocated_bytes", "peak allocated", true, true,
       [](const M& m) { return m.peak_allocated; }},
      {"peak_requested_bytes", "peak requested", true, false,
       [](const M& m) { return m.peak_requested; }},
      {"gap_bytes", "gap", true, false, gap},
      {"end_reserved_bytes", "end reserved", true, false,
       [](const M& m) { return m.end_reserved; }},
      {"end_allocated_bytes", "end allocated", true, false,
       [](const M& m) { return m.end_allocated; }},
      {"end_requested_bytes", "end requested", true, false,
       [](const M& m) { return m.end_requested; }},
      {"ooms", "OOMs", false, false, [](const M& m) { return m.ooms; }},
      {"oom_retries", "OOM retries", false, false, [](const M& m) { return m.oom_retries; }},
      {"device_allocs", "device allocs", false, false, [](const M& m) { return m.device_allocs; }},
      {"device_frees", "device frees", false, false, [](const M& m) { return m.device_frees; }},
      {"device_maps", "device maps", false, false, [](const M& m) { return m.device_maps; }},
      {"device_unmaps", "device unmaps", false, false, [](const M& m) { return m.device_unmaps; }},
      {"syncs", "syncs", false, false, [](const M& m) { return m.syncs; }},
      {"stream_waits", "stream waits", false, false, [](const M& m) { return m.stream_waits; }},
      {"segments_peak", "peak segments", false, false, [](const M& m) { return m.segments_peak; }},
      {"segments_end", "end segments", false, false, [](const M& m) { return m.segments_end; }},
  };
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

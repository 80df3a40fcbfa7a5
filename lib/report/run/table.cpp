#include "report/run/table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "core/text.hpp"
#include "report/parts/sentences.hpp"

namespace memreplay {
namespace {

// Where operations were timed, without what was done to blocks between them.
std::string ns_per_op(const RunMetrics& m) {
  const bool timed = m.times && m.times->ops.count() != 0;
  const double ns =
      timed ? static_cast<double>(m.times->ops.sum()) / static_cast<double>(m.times->ops.count())
            : m.replay_seconds * 1e9 / static_cast<double>(m.events);
  return std::isfinite(ns) ? fmt::format("{:.0f}", ns) : "-";
}

// Reserved below allocated cannot be, but a strategy that breaks the rules must not print 16 EiB.
std::string gap_text(const RunMetrics& m) {
  return m.peak_reserved >= m.peak_allocated ? human_size(m.gap())
                                             : "-" + human_size(m.peak_allocated - m.peak_reserved);
}

std::string reserved_text(const RunReport& run) {
  const Bytes reserved = run.metrics.peak_reserved;
  return run.interval ? estimated_text(reserved, run.interval->peak_reserved)
                      : human_size(reserved);
}

}  // namespace

Table run_table(const std::vector<RunReport>& runs) {
  Table table;
  table.columns = {{"strategy", true}, {"MaxInUse"},     {"reserved"}, {"gap"}, {"OOM"},
                   {"retries"},        {"device calls"}, {"ns/op"}};
  for (const RunReport& run : runs) {
    const RunMetrics& m = run.metrics;
    table.rows.push_back({run.name() + mark(run), human_size(m.peak_allocated), reserved_text(run),
                          gap_text(m), human_count(m.ooms), human_count(m.oom_retries),
                          human_count(run.device_calls()), ns_per_op(m)});
  }
  return table;
}

Table run_numbers(const std::vector<ReplayReport>& reports) {
  Table table;
  table.columns = {{"trace", true}, {"gpu"}, {"place"}, {"strategy", true}};
  for (const char* name : {"exact",
                           "peak_requested_bytes",
                           "peak_allocated_bytes",
                           "peak_reserved_bytes",
                           "gap_bytes",
                           "end_requested_bytes",
                           "end_allocated_bytes",
                           "end_reserved_bytes",
                           "lower_bound_bytes",
                           "ooms",
                           "oom_retries",
                           "device_allocs",
                           "device_frees",
                           "device_maps",
                           "device_unmaps",
                           "replay_seconds",
                           "modelled_device_seconds",
                           "clairvoyant",
                           "moved_out_blocks",
                           "modelled_stall_seconds"}) {
    table.columns.push_back({name});
  }
  table.columns.push_back({"device", true});
  for (const char* name : {"peak_reserved_low_bytes", "peak_reserved_high_bytes",
                           "end_reserved_low_bytes", "end_reserved_high_bytes"}) {
    table.columns.push_back({name});
  }
  const auto seconds = [](double s) { return std::isfinite(s) ? fmt::format("{:.6g}", s) : "-"; };
  for (const ReplayReport& report : reports) {
    for (const RunReport& run : report.runs) {
      const RunMetrics& m = run.metrics;
      std::vector<std::string> row = {report.trace.path, std::to_string(run.gpu),
                                      std::to_string(run.place), run.strategy,
                                      run.exact ? "true" : "false"};
      for (const std::uint64_t number : {m.peak_requested, m.peak_allocated, m.peak_reserved}) {
        row.push_back(std::to_string(number));
      }
      row.push_back(std::to_string(static_cast<std::int64_t>(m.gap())));
      for (const std::uint64_t number :
           {m.end_requested, m.end_allocated, m.end_reserved, m.lower_bound, m.ooms, m.oom_retries,
            m.device_allocs, m.device_frees, m.device_maps, m.device_unmaps}) {
        row.push_back(std::to_string(number));
      }
      row.push_back(seconds(m.replay_seconds));
      row.push_back(seconds(m.modelled_device_seconds));
      row.push_back(m.clairvoyant ? "true" : "false");
      row.push_back(std::to_string(m.moved_out_blocks));
      row.push_back(seconds(m.stall_seconds));
      row.push_back(run.device.text);
      const RunInterval none;
      const auto& [peak, end] = run.interval ? *run.interval : none;
      for (const Bytes bound : {peak.low, peak.high, end.low, end.high}) {
        row.push_back(run.interval ? std::to_string(bound) : "");
      }
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

Table verify_table(const std::vector<VerifyReport>& reports) {
  Table table;
  table.columns = {{"trace", true},
                   {"gpu"},
                   {"verdict", true},
                   {"allocs"},
                   {"allocs_matched"},
                   {"segment_events"},
                   {"segment_events_matched"},
                   {"reason", true}};
  for (const VerifyReport& report : reports) {
    for (const VerifyRun& run : report.runs) {
      table.rows.push_back({report.trace.path, std::to_string(run.gpu), run.verdict,
                            std::to_string(run.allocs), std::to_string(run.allocs_matched),
                            std::to_string(run.segment_events),
                            std::to_string(run.segment_events_matched), run.reason});
    }
  }
  return table;
}

}  // namespace memreplay

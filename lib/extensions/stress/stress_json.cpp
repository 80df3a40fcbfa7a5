#include <algorithm>

#include "extensions/stress/stress_report.hpp"
#include "report/formats/format.hpp"
#include "report/parts/documents.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/paragraphs.hpp"

namespace memreplay {
namespace {

std::optional<std::string_view> name_of(StepsFrom from) {
  constexpr std::string_view kNames[] = {"",           "markers", "annotations",
                                         "repetition", "quiet",   "count"};
  return only_if(from != StepsFrom::nowhere, kNames[static_cast<std::size_t>(from)]);
}

std::optional<double> share_of(std::int64_t part, Bytes whole) {
  if (whole == 0) return std::nullopt;
  return static_cast<double>(part) / static_cast<double>(whole);
}

/// [bytes, orders] each
std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs_of(
    const std::map<Bytes, std::uint64_t>& counts) {
  return {counts.begin(), counts.end()};
}

/// The result whose first strategy needs the largest margin; one without any needs more.
Json worst_of(const std::vector<StressedDevice>& devices) {
  const auto need = [](const StressedDevice& device) {
    if (device.runs.empty()) return INT64_MIN;
    const StressRun& run = device.runs.front();
    return run.margin ? run.margin->over_recorded : INT64_MAX;
  };
  const auto worst = std::ranges::max_element(devices, {}, need);
  return worst == devices.end() ? Json(nullptr) : Json(worst - devices.begin());
}

}  // namespace

void fields(JsonFields& f, const StressedSteps& steps) {
  f("from", name_of(steps.from), "what shows the steps");
  f("steps", steps.steps, "that change their places");
  f("steps_of_others", steps.others, "steps of other recordings");
  f("last_stays", steps.last_stays, "one more stays last");
  f("events", steps.events, "a free counted once");
  f("events_before", steps.events_before, "replayed first");
  f("events_behind", steps.events_behind, "replayed at the end");
  f("crossing_blocks", steps.crossing_blocks, "blocks that live across steps");
  f("crossing_bytes", steps.crossing_bytes, "requested bytes of them");
  f("lasting_blocks", steps.lasting_blocks, "blocks that stay");
  f("lasting_bytes", steps.lasting_bytes, "requested bytes of them");
  f("left_out", Part{[&](JsonFields& out) {
      out("safe_frontiers", steps.frontiers, "how many");
      out("pool_ends", steps.pool_ends, "how many");
      out("unfinished_frees", steps.unfinished_frees, "how many");
    }},
    "what the other orders leave out");
}

void fields(JsonFields& f, const OrderSpread& spread) {
  f("min", spread.least, "the least of all orders, bytes");
  f("median", spread.median, "bytes");
  f("p99", spread.p99, "99th percentile, bytes");
  f("max", spread.most, "bytes");
}

void margin_fields(JsonFields& f, const StressMargin& margin, const RunMetrics& recorded) {
  f("share", kStressShare, "share of orders that need no more");
  f("confidence", margin.confidence, "confidence of that share");
  f("peak_reserved_bytes", margin.peak_reserved, "peak reserved that they need");
  f("over_recorded_bytes", margin.over_recorded, "above what the recorded order reserves");
  f("over_recorded", share_of(margin.over_recorded, recorded.peak_reserved), "as a share of it");
  f("over_live_bytes", margin.over_live, "above live memory at each peak");
  f("over_live", share_of(margin.over_live, recorded.peak_requested), "as a share of it");
}

void fields(JsonFields& f, const StressRun& run) {
  const bool played = run.orders > 0;
  const RunMetrics& recorded = run.recorded.metrics;
  f("strategy", run.recorded.strategy, "the specification as given");
  f("gpu", run.recorded.gpu, "which device of the recording");
  f("exact", run.recorded.exact, "the recording determines the result");
  bound_field(f, run.recorded.at_least);
  f("interval", run.recorded.interval, "bounds of an estimate; null where it is exact");
  f("inexact_because", unless_empty(run.recorded.inexact_because), "the end of a sentence");
  f("recorded_peak_reserved_bytes", recorded.peak_reserved, "in the recorded order");
  f("recorded_peak_requested_bytes", recorded.peak_requested, "in the recorded order");
  f("recorded_ooms", recorded.ooms, "in the recorded order");
  f("recorded_order_peak_reserved_bytes", run.recorded_order, "the same, replayed from its steps");
  f("orders", run.orders, "other orders replayed");
  f("orders_with_oom", run.orders_with_oom, "those that ran out of memory");
  f("peak_reserved_bytes", only_if(played, run.reserved), "over the orders");
  f("orders_by_peak_reserved", pairs_of(run.orders_by_reserved), "[bytes, orders] each");
  f("peak_requested_bytes", only_if(played, run.live), "over the orders");
  const auto margin = [&](JsonFields& m, const StressMargin& of) {
    margin_fields(m, of, recorded);
  };
  f("margin", each(run.margin, margin),
    "the margin that is enough; null: too many OOMs, or no order");
}

void fields(JsonFields& f, const StressedDevice& device) {
  result_fields(f, "stress", device.trace, device.device, device.runs);
  f("remarks", nothing_requested_remarks(device.trace, device.nothing_requested), "sentences");
  f("seed", device.seed, "of the orders");
  f("steps_at_once", device.in_flight, "steps that overlap");
  f("work", device.steps, "the steps that are reordered");
  model_check_field(f, device.model_check);
}

std::string to_json(const StressAnswer& answer) {
  return dump_each("stress", answer.devices, worst_of(answer.devices));
}

Table to_table(const StressAnswer& answer) {
  Table table{{left("trace"), "gpu", left("strategy"), "recorded_peak_reserved_bytes", "orders",
               "orders_with_oom", "peak_reserved_min_bytes", "peak_reserved_median_bytes",
               "peak_reserved_p99_bytes", "peak_reserved_max_bytes", "margin_peak_reserved_bytes",
               "margin_over_recorded_bytes", "margin_over_live_bytes", "confidence"}};
  for (const StressedDevice& device : answer.devices) {
    for (const StressRun& run : device.runs) {
      const auto played = [&](Bytes bytes) { return run.orders > 0 ? cell_of(bytes) : ""; };
      const auto add = [&](const auto&... margin) {
        table.add(device.trace.path, run.recorded.gpu, run.recorded.strategy,
                  run.recorded.metrics.peak_reserved, run.orders, run.orders_with_oom,
                  played(run.reserved.least), played(run.reserved.median), played(run.reserved.p99),
                  played(run.reserved.most), margin...);
      };
      if (const auto& m = run.margin) {
        add(m->peak_reserved, m->over_recorded, m->over_live, Json(m->confidence).dump());
      } else {
        add();
      }
    }
  }
  return table;
}

void stress_documents(Documents& documents) { documents.add_results<StressedDevice>("stress"); }

}  // namespace memreplay

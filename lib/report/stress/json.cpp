#include <algorithm>

#include "report/formats/format.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/recording_advice.hpp"
#include "report/stress/stress.hpp"

namespace memreplay {
namespace {

Json steps_from_json(StepsFrom from) {
  constexpr const char* kNames[] = {"", "markers", "annotations", "repetition", "quiet", "count"};
  return from == StepsFrom::nowhere ? Json(nullptr) : Json(kNames[static_cast<std::size_t>(from)]);
}

Json steps_json(const StressedSteps& steps) {
  return {{"from", steps_from_json(steps.from)},
          {"steps", steps.steps},
          {"steps_of_others", steps.others},
          {"last_stays", steps.last_stays},
          {"events", steps.events},
          {"events_before", steps.events_before},
          {"events_behind", steps.events_behind},
          {"crossing_blocks", steps.crossing_blocks},
          {"crossing_bytes", steps.crossing_bytes},
          {"lasting_blocks", steps.lasting_blocks},
          {"lasting_bytes", steps.lasting_bytes},
          {"left_out",
           {{"safe_frontiers", steps.frontiers},
            {"pool_ends", steps.pool_ends},
            {"unfinished_frees", steps.unfinished_frees}}}};
}

Json share_of(std::int64_t part, Bytes whole) {
  return whole == 0 ? Json(nullptr) : Json(static_cast<double>(part) / static_cast<double>(whole));
}

Json spread_json(const OrderSpread& spread) {
  return {
      {"min", spread.least}, {"median", spread.median}, {"p99", spread.p99}, {"max", spread.most}};
}

Json counts_json(const std::map<Bytes, std::uint64_t>& counts) {
  Json json = Json::array();
  for (const auto& [bytes, orders] : counts) json.push_back({bytes, orders});
  return json;
}

Json margin_json(const StressRun& run) {
  if (!run.margin) return nullptr;
  const StressMargin& margin = *run.margin;
  const RunMetrics& recorded = run.recorded.metrics;
  return {{"share", kStressShare},
          {"confidence", margin.confidence},
          {"peak_reserved_bytes", margin.peak_reserved},
          {"over_recorded_bytes", margin.over_recorded},
          {"over_recorded", share_of(margin.over_recorded, recorded.peak_reserved)},
          {"over_live_bytes", margin.over_live},
          {"over_live", share_of(margin.over_live, recorded.peak_requested)}};
}

Json stress_run_json(const StressRun& run) {
  const bool played = run.orders > 0;
  const RunMetrics& recorded = run.recorded.metrics;
  return {{"strategy", run.recorded.strategy},
          {"gpu", run.recorded.gpu},
          {"exact", run.recorded.exact},
          {"interval", interval_json(run.recorded.interval)},
          {"inexact_because", text_or_null(run.recorded.inexact_because)},
          {"recorded_peak_reserved_bytes", recorded.peak_reserved},
          {"recorded_peak_requested_bytes", recorded.peak_requested},
          {"recorded_ooms", recorded.ooms},
          {"recorded_order_peak_reserved_bytes", run.recorded_order},
          {"orders", run.orders},
          {"orders_with_oom", run.orders_with_oom},
          {"peak_reserved_bytes", played ? spread_json(run.reserved) : Json(nullptr)},
          {"orders_by_peak_reserved", counts_json(run.orders_by_reserved)},
          {"peak_requested_bytes", played ? spread_json(run.live) : Json(nullptr)},
          {"margin", margin_json(run)}};
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

std::string number(auto value) { return std::to_string(value); }

}  // namespace

std::string to_json(const StressAnswer& answer) {
  std::vector<Json> results;
  for (const StressedDevice& device : answer.devices) {
    Json runs = Json::array();
    for (const StressRun& run : device.runs) runs.push_back(stress_run_json(run));
    Json result = result_json("stress", device.trace, device_json(device.device), std::move(runs));
    result["remarks"] = Json::array();
    if (device.nothing_requested) {
      result["remarks"].push_back(nothing_requested_sentence(device.trace));
    }
    result["seed"] = device.seed;
    result["steps_at_once"] = device.in_flight;
    result["work"] = steps_json(device.steps);
    result["model_check"] =
        device.model_check ? verify_run_json(*device.model_check) : Json(nullptr);
    results.push_back(std::move(result));
  }
  return dump_results("stress", std::move(results), worst_of(answer.devices));
}

Table to_table(const StressAnswer& answer) {
  Table table;
  table.columns = {{"trace", true},
                   {"gpu"},
                   {"strategy", true},
                   {"recorded_peak_reserved_bytes"},
                   {"orders"},
                   {"orders_with_oom"},
                   {"peak_reserved_min_bytes"},
                   {"peak_reserved_median_bytes"},
                   {"peak_reserved_p99_bytes"},
                   {"peak_reserved_max_bytes"},
                   {"margin_peak_reserved_bytes"},
                   {"margin_over_recorded_bytes"},
                   {"margin_over_live_bytes"},
                   {"confidence"}};
  for (const StressedDevice& device : answer.devices) {
    for (const StressRun& run : device.runs) {
      std::vector<std::string> row = {
          device.trace.path,     number(run.recorded.gpu),
          run.recorded.strategy, number(run.recorded.metrics.peak_reserved),
          number(run.orders),    number(run.orders_with_oom)};
      const bool played = run.orders > 0;
      for (const Bytes bytes :
           {run.reserved.least, run.reserved.median, run.reserved.p99, run.reserved.most}) {
        row.push_back(played ? number(bytes) : "");
      }
      row.push_back(run.margin ? number(run.margin->peak_reserved) : "");
      row.push_back(run.margin ? number(run.margin->over_recorded) : "");
      row.push_back(run.margin ? number(run.margin->over_live) : "");
      row.push_back(run.margin ? Json(run.margin->confidence).dump() : "");
      table.rows.push_back(std::move(row));
    }
  }
  return table;
}

}  // namespace memreplay

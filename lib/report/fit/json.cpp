#include <algorithm>

#include "report/fit/fit.hpp"
#include "report/formats/format.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/recording_advice.hpp"

namespace memreplay {
namespace {

Json headroom(const FitRun& run, const DeviceSummary& device) {
  if (!device.capacity || !run.fit.smallest) return nullptr;
  return static_cast<std::int64_t>(*device.capacity - *run.fit.smallest);
}

Json fit_interval_json(const std::optional<BytesInterval>& interval) {
  if (!interval) return nullptr;
  return {{"smallest_capacity_bytes", {interval->low, interval->high}}};
}

Json fit_run_json(const FitRun& run, const FittedDevice& device) {
  const Fit& fit = run.fit;
  const bool there = fit.smallest.has_value();
  const RunMetrics& m = run.there.metrics;
  const auto known = [&](auto value) { return there ? Json(value) : Json(nullptr); };
  return Json{
      {"strategy", run.there.strategy},
      {"gpu", run.there.gpu},
      {"smallest_capacity_bytes", or_null(fit.smallest)},
      {"oom_retries_there", known(m.oom_retries)},
      {"smallest_capacity_without_retries_bytes", or_null(fit.smallest_without_retries)},
      {"proven_smallest", fit.proven_smallest()},
      {"proven_without_retries", fit.proven_without_retries()},
      {"known_below_bytes", or_null(fit.known_below)},
      {"fails_again_at_bytes", or_null(fit.fails_again)},
      {"held_by_others_bytes", device.reserve},
      {"peak_requested_bytes", known(m.peak_requested)},
      {"peak_asked_bytes", known(m.peak_asked)},
      {"lower_bound_bytes", m.sleeps.empty() ? known(m.lower_bound) : Json(nullptr)},
      {"recorded_ooms_served", known(m.recorded_ooms_served)},
      {"moved_out_blocks", known(m.moved_out_blocks)},
      {"bound", bound_json(run.there.at_least)},
      {"fits", fit.given ? or_null(device.known_to_fit(run, *fit.given, *device.device.capacity))
                         : Json(nullptr)},
      {"headroom_bytes", headroom(run, device.device)},
      {"bounded_by_start", fit.bounded_by_start},
      {"first_oom", oom_json(fit.given ? fit.given->first_oom : fit.first_oom)},
      {"exact", run.there.exact},
      {"interval", fit_interval_json(run.interval)},
      {"inexact_because", text_or_null(run.there.inexact_because)},
      {"finished", fit.finished},
      {"replays", fit.replays}};
}

Json fitted_card_json(const FittedCard& on, const FittedDevice& device) {
  Json runs = Json::array();
  for (std::size_t i = 0; i < on.runs.size(); ++i) {
    const auto& given = on.runs[i];
    runs.push_back(
        {{"strategy", device.runs[i].there.strategy},
         {"fits", given ? or_null(device.known_to_fit(device.runs[i], *given, on.card.total))
                        : Json(nullptr)},
         {"first_oom", oom_json(given ? given->first_oom : std::nullopt)}});
  }
  return Json{{"card", on.card.name}, {"total_bytes", on.card.total}, {"runs", std::move(runs)}};
}

/// The result whose first strategy needs the largest device.
Json worst_of(const std::vector<FittedDevice>& devices) {
  const auto need = [](const FittedDevice& device) {
    return device.runs.empty() ? 0 : device.runs.front().fit.smallest.value_or(UINT64_MAX);
  };
  const auto worst = std::ranges::max_element(devices, {}, need);
  return worst == devices.end() ? Json(nullptr) : Json(worst - devices.begin());
}

std::string number(const std::optional<Bytes>& bytes) {
  return bytes ? std::to_string(*bytes) : "";
}

}  // namespace

std::string to_json(const FitAnswer& answer) {
  std::vector<Json> results;
  for (const FittedDevice& device : answer.devices) {
    Json runs = Json::array();
    for (const FitRun& run : device.runs) runs.push_back(fit_run_json(run, device));
    Json result = result_json("fit", device.trace, device_json(device.device), std::move(runs));
    result["state_beyond_device"] = state_beyond_json(device.state_beyond);
    result["remarks"] = Json::array();
    if (device.nothing_requested) {
      result["remarks"].push_back(nothing_requested_sentence(device.trace));
    }
    result["cards_that_fit"] = nullptr;
    if (device.cards) {
      result["cards_that_fit"] = Json::array();
      for (const Card& card : *device.cards) result["cards_that_fit"].push_back(card.name);
    }
    result["rest_of_step_from_before"] = device.completed;
    result["asked_cards"] = Json::array();
    for (const FittedCard& on : device.asked_cards) {
      result["asked_cards"].push_back(fitted_card_json(on, device));
    }
    result["model_check"] =
        device.model_check ? verify_run_json(*device.model_check) : Json(nullptr);
    results.push_back(std::move(result));
  }
  return dump_results("fit", std::move(results), worst_of(answer.devices));
}

Table to_table(const FitAnswer& answer) {
  Table table;
  table.columns = {{"trace", true},
                   {"gpu"},
                   {"strategy", true},
                   {"smallest_capacity_bytes"},
                   {"oom_retries_there"},
                   {"smallest_capacity_without_retries_bytes"},
                   {"proven_smallest"},
                   {"fails_again_at_bytes"},
                   {"exact"},
                   {"fits"},
                   {"bound"},
                   {"smallest_capacity_low_bytes"},
                   {"smallest_capacity_high_bytes"}};
  const auto truth = [](bool value) { return std::string(value ? "true" : "false"); };
  const auto fits = [&](const FittedDevice& device, const FitRun& run) {
    const auto known = run.fit.given
                           ? device.known_to_fit(run, *run.fit.given, *device.device.capacity)
                           : std::nullopt;
    return known ? truth(*known) : std::string();
  };
  for (const FittedDevice& device : answer.devices) {
    for (const FitRun& run : device.runs) {
      const Fit& fit = run.fit;
      table.rows.push_back(
          {device.trace.path, std::to_string(run.there.gpu), run.there.strategy,
           number(fit.smallest), fit.smallest ? std::to_string(run.there.metrics.oom_retries) : "",
           number(fit.smallest_without_retries), truth(fit.proven_smallest()),
           number(fit.fails_again), truth(run.there.exact), fits(device, run),
           run.there.at_least ? "lower" : "", run.interval ? std::to_string(run.interval->low) : "",
           run.interval ? std::to_string(run.interval->high) : ""});
    }
  }
  return table;
}

std::string to_markdown(const FitAnswer& answer) {
  return answer_and_table(to_text(answer, {}), to_table(answer));
}

}  // namespace memreplay

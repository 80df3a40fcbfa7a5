#include <algorithm>
#include <tuple>

#include "report/fit/fit.hpp"
#include "report/parts/json_parts.hpp"

namespace memreplay {
namespace {

bool fits(const FitRun& run) { return run.fit.given ? run.fit.given->fits : !!run.fit.smallest; }

Json headroom(const FitRun& run, const DeviceSummary& device) {
  if (!device.capacity || !run.fit.smallest) return nullptr;
  return static_cast<std::int64_t>(*device.capacity - *run.fit.smallest);
}

Json fit_run_json(const FitRun& run, const FitReport& report) {
  const Fit& fit = run.fit;
  const bool there = fit.there.has_value();
  const RunMetrics& m = run.there.metrics;
  const auto known = [&](auto value) { return there ? Json(value) : Json(nullptr); };
  return Json{{"strategy", run.there.strategy},
              {"gpu", run.there.gpu},
              {"smallest_capacity_bytes", or_null(fit.smallest)},
              {"oom_retries_there", known(m.oom_retries)},
              {"smallest_capacity_without_retries_bytes", or_null(fit.smallest_without_retries)},
              {"proven_smallest", fit.proven_smallest()},
              {"proven_without_retries", fit.proven_without_retries()},
              {"known_below_bytes", or_null(fit.known_below)},
              {"fails_again_at_bytes", or_null(fit.fails_again)},
              {"held_by_others_bytes", report.reserve},
              {"peak_requested_bytes", known(m.peak_requested)},
              {"peak_asked_bytes", known(m.peak_asked)},
              {"lower_bound_bytes", known(m.lower_bound)},
              {"recorded_ooms_served", known(m.recorded_ooms_served)},
              {"moved_out_blocks", known(m.moved_out_blocks)},
              {"fits", fit.given ? Json(fit.given->fits) : Json(nullptr)},
              {"headroom_bytes", headroom(run, report.device)},
              {"bounded_by_start", fit.bounded_by_start},
              {"first_oom", oom_json(fit.given ? fit.given->first_oom : fit.first_oom)},
              {"exact", run.there.exact},
              {"inexact_because", text_or_null(run.there.inexact_because)},
              {"finished", fit.finished},
              {"replays", fit.replays}};
}

/// The result whose first strategy needs the largest device.
Json worst_of(const std::vector<FitReport>& reports) {
  const auto need = [](const FitReport& report) {
    return report.runs.empty() ? 0 : report.runs.front().fit.smallest.value_or(UINT64_MAX);
  };
  const auto worst = std::ranges::max_element(reports, {}, need);
  return worst == reports.end() ? Json(nullptr) : Json(worst - reports.begin());
}

std::string number(const std::optional<Bytes>& bytes) {
  return bytes ? std::to_string(*bytes) : "";
}

}  // namespace

const FitRun* best_of(const std::vector<FitRun>& runs) {
  const auto need = [](const FitRun& run) {
    return std::tuple(!run.fit.smallest, run.there.metrics.moved_out_blocks != 0,
                      run.fit.smallest.value_or(0));
  };
  const auto best = std::ranges::min_element(runs, {}, need);
  return best == runs.end() || !best->fit.smallest ? nullptr : &*best;
}

bool all_fit(const std::vector<FitReport>& reports) {
  return std::ranges::all_of(
      reports, [](const FitReport& report) { return std::ranges::all_of(report.runs, fits); });
}

std::string fit_json(const std::vector<FitReport>& reports) {
  std::vector<Json> results;
  for (const FitReport& report : reports) {
    Json runs = Json::array();
    for (const FitRun& run : report.runs) runs.push_back(fit_run_json(run, report));
    Json result = result_json("fit", report.trace, device_json(report.device), std::move(runs));
    result["cards_that_fit"] = nullptr;
    if (report.cards) {
      result["cards_that_fit"] = Json::array();
      for (const Card& card : *report.cards) result["cards_that_fit"].push_back(card.name);
    }
    result["model_check"] =
        report.model_check ? verify_run_json(*report.model_check) : Json(nullptr);
    results.push_back(std::move(result));
  }
  return dump_results("fit", std::move(results), worst_of(reports));
}

Table fit_table(const std::vector<FitReport>& reports) {
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
                   {"fits"}};
  const auto truth = [](bool value) { return std::string(value ? "true" : "false"); };
  for (const FitReport& report : reports) {
    for (const FitRun& run : report.runs) {
      const Fit& fit = run.fit;
      table.rows.push_back(
          {report.trace.path, std::to_string(run.there.gpu), run.there.strategy,
           number(fit.smallest), fit.there ? std::to_string(run.there.metrics.oom_retries) : "",
           number(fit.smallest_without_retries), truth(fit.proven_smallest()),
           number(fit.fails_again), truth(run.there.exact), run.fit.given ? truth(fits(run)) : ""});
    }
  }
  return table;
}

}  // namespace memreplay

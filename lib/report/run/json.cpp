#include "report/run/json.hpp"

#include "report/parts/json_parts.hpp"
#include "report/ranking.hpp"

namespace memreplay {

std::string replay_json(std::string_view command, const std::vector<ReplayReport>& reports) {
  std::vector<Json> results;
  for (const ReplayReport& report : reports) {
    Json runs = Json::array();
    for (const RunReport& run : report.runs) runs.push_back(run_json(run));
    Json result = result_json(command, report.trace, device_json(report.device), std::move(runs));
    result["model_check"] = nullptr;
    if (report.model_check) result["model_check"] = verify_run_json(*report.model_check);
    results.push_back(std::move(result));
  }
  return dump_results(command, std::move(results), worst_of(reports));
}

std::string info_json(const std::vector<TraceSummary>& traces) {
  std::vector<Json> results;
  for (const TraceSummary& trace : traces) {
    results.push_back(result_json("info", trace, nullptr, Json::array()));
  }
  return dump_results("info", std::move(results), nullptr);
}

std::string verify_json(const std::vector<VerifyReport>& reports) {
  std::vector<Json> results;
  Json worst = nullptr;
  for (const VerifyReport& report : reports) {
    Json runs = Json::array();
    for (const VerifyRun& run : report.runs) {
      runs.push_back(verify_run_json(run));
      if (worst.is_null() && run.first_divergence) worst = results.size();
    }
    results.push_back(result_json("verify", report.trace, nullptr, std::move(runs)));
  }
  return dump_results("verify", std::move(results), std::move(worst));
}

}  // namespace memreplay

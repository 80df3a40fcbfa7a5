#include "report/parts/json_parts.hpp"
#include "report/run/run.hpp"

namespace memreplay {

std::string to_json(const ReplayAnswer& answer) {
  const char* command = answer.ranked ? "compare" : "replay";
  const std::vector<TraceRuns> traces = answer.shown();
  std::vector<Json> results;
  for (const TraceRuns& trace : traces) {
    Json runs = Json::array();
    for (const Run& run : trace.runs) runs.push_back(run_json(run));
    Json result = result_json(command, trace.trace, device_json(trace.device), std::move(runs));
    result["model_check"] = nullptr;
    if (trace.model_check) result["model_check"] = verify_run_json(*trace.model_check);
    result["runs_asked"] = trace.asked;
    results.push_back(std::move(result));
  }
  return dump_results(command, std::move(results), worst_of(traces));
}

}  // namespace memreplay

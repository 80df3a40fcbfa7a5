#include "report/parts/json_parts.hpp"
#include "report/parts/prediction.hpp"
#include "report/run/run.hpp"

namespace memreplay {
namespace {

// Null where it is left out, too.
Json floor_json(const std::optional<PlannedFloor>& planned) {
  if (!planned || !planned->left_out_because.empty()) return nullptr;
  return {{"height_bytes", planned->height},
          {"lower_bound_bytes", planned->lower_bound},
          {"optimal", planned->optimal()},
          {"solver", planned->found_by},
          {"buffers", planned->blocks}};
}

}  // namespace

std::string to_json(const ReplayAnswer& answer) {
  const char* command = answer.ranked ? "compare" : "replay";
  const std::vector<TraceRuns> traces = answer.shown();
  std::vector<Json> results;
  for (const TraceRuns& trace : traces) {
    Json runs = Json::array();
    for (const Run& run : trace.runs) runs.push_back(run_json(run));
    Json result = result_json(command, trace.trace, device_json(trace.device), std::move(runs));
    if (trace.trace.predicted) result["predicted"] = prediction_json(*trace.trace.predicted);
    result["model_check"] = nullptr;
    if (trace.model_check) result["model_check"] = verify_run_json(*trace.model_check);
    result["state_beyond_device"] = state_beyond_json(trace.state_beyond);
    result["runs_asked"] = trace.asked;
    if (answer.ranked) {
      result["planned"] = floor_json(trace.planned);
      result["planned_left_out"] =
          trace.planned ? text_or_null(trace.planned->left_out_because) : Json(nullptr);
    }
    results.push_back(std::move(result));
  }
  return dump_results(command, std::move(results), worst_of(traces));
}

}  // namespace memreplay

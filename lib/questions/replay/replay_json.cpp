#include "questions/replay/replay_report.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/prediction.hpp"

namespace memreplay {

void fields(JsonFields& f, const PlannedFloor& planned) {
  f("height_bytes", planned.height, "of the plan");
  f("lower_bound_bytes", planned.lower_bound, "no plan is lower");
  f("optimal", planned.optimal(), "proved");
  f("solver", planned.found_by, "what found the plan");
  f("buffers", planned.blocks, "blocks placed");
}

void replayed_fields(JsonFields& f, const TraceRuns& trace, bool ranked) {
  result_fields(f, ranked ? "compare" : "replay", trace.trace, trace.device, trace.runs);
  if (f.sometimes(trace.trace.predicted.has_value())) {
    f("predicted", trace.trace.predicted.value_or(PredictionFacts()), "how it was predicted");
  }
  model_check_field(f, trace.model_check);
  f("state_beyond_device", trace.state_beyond,
    "memory from before the recording exceeds the device");
  f("runs_asked", trace.asked, "where it was interrupted there are fewer runs");
  if (!ranked) return;
  const bool planned = trace.planned && trace.planned->left_out_because.empty();
  f("planned", planned ? trace.planned : std::nullopt, "with the future known");
  f("planned_left_out",
    unless_empty(trace.planned ? trace.planned->left_out_because : std::string()),
    "why there is no plan");
}

std::string to_json(const ReplayAnswer& answer) {
  const std::vector<TraceRuns> traces = answer.shown();
  std::vector<Json> results;
  for (const TraceRuns& trace : traces) {
    JsonFields f;
    replayed_fields(f, trace, answer.ranked);
    results.push_back(f.json());
  }
  return dump_results(answer.ranked ? "compare" : "replay", std::move(results), worst_of(traces));
}

}  // namespace memreplay

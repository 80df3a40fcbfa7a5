#include "report/parts/json_parts.hpp"
#include "report/tune/phrases.hpp"
#include "report/tune/tune.hpp"

namespace memreplay {
namespace {

Json runs_json(const TuneResult& result, std::size_t trace) {
  Json runs = Json::array();
  for (const TuneOutcome& outcome : result.outcomes) {
    Json run = run_json(outcome.runs[trace]);
    run["settings"] = Json::array();
    for (const Setting& setting : outcome.settings) {
      run["settings"].push_back(conf_of(setting, result.kept));
    }
    run["pareto"] = outcome.pareto;
    runs.push_back(std::move(run));
  }
  return runs;
}

// The reserved peak; null where the recordings determine it, or it was not looked into.
Json late_json(const LateVerdict& late) {
  using Kind = LateVerdict::Kind;
  if (late.kind == Kind::not_late || late.kind == Kind::interrupted) return nullptr;
  return {{"peak_reserved_bytes", {late.best.low, late.best.high}},
          {"baseline_peak_reserved_bytes", {late.baseline.low, late.baseline.high}}};
}

}  // namespace

std::string to_json(const TuneAnswer& answer) {
  const TuneResult& r = answer.result;
  const TuneOutcome& best = r.outcomes[r.best];
  const Json best_json = {{"setting", r.conf(best)},
                          {"env", export_line(r, best.settings.front())},
                          {"place", r.best + 1},
                          {"helps", r.helps},
                          {"interval", late_json(answer.late)}};
  std::vector<Json> results;
  for (std::size_t i = 0; i < answer.traces.size(); ++i) {
    Json result =
        result_json("tune", answer.traces[i], device_json(answer.devices[i]), runs_json(r, i));
    result["model_check"] = nullptr;
    if (answer.model_checks[i]) result["model_check"] = verify_run_json(*answer.model_checks[i]);
    result["baseline"] = run_json(r.baseline_outcome.runs[i]);
    result["tried"] = r.tried;
    result["replays"] = r.replayed;
    result["abandoned"] = r.abandoned;
    result["undetermined"] = answer.late.open;
    result["weighed"] = answer.late.weighed;
    result["every_split_size"] = r.every_split_size;
    result["finished"] = r.finished;
    result["torch_version"] = r.torch_version;
    result["best"] = best_json;
    result["remarks"] = answer.remarks;
    results.push_back(std::move(result));
  }
  if (results.size() == 1) return dump(results.front());
  const auto peak = [&](std::size_t i) { return best.runs[i].metrics.peak_reserved; };
  std::size_t worst = 0;
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (peak(i) > peak(worst)) worst = i;
  }
  Json object = head_json("tune");
  object["results"] = std::move(results);
  object["worst"] = worst;
  object["best"] = best_json;
  return dump(object);
}

}  // namespace memreplay

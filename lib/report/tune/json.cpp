#include "report/parts/json_parts.hpp"
#include "report/parts/recording_advice.hpp"
#include "report/tune/phrases.hpp"
#include "report/tune/tune.hpp"

namespace memreplay {
namespace {

std::string_view name_of(Objective objective) {
  switch (objective) {
    case Objective::calls:
      return "calls";
    case Objective::retries:
      return "retries";
    case Objective::full_device:
      return "full-device";
    default:
      return "reserved";
  }
}

// The reserved peak; null where the recordings determine it, or it was not looked into.
Json late_json(const LateVerdict& late) {
  using Kind = LateVerdict::Kind;
  if (late.kind == Kind::not_late || late.kind == Kind::interrupted) return nullptr;
  return {{"peak_reserved_bytes", {late.best.low, late.best.high}},
          {"baseline_peak_reserved_bytes", {late.baseline.low, late.baseline.high}}};
}

// Without a request nothing is tried and nothing advised.
Json no_best_json() {
  return {{"setting", nullptr}, {"env", nullptr},  {"place", nullptr},
          {"helps", false},     {"likely", false}, {"interval", nullptr}};
}

Json best_json(const TuneAnswer& answer) {
  const TuneResult& r = answer.result;
  if (answer.nothing_requested) return no_best_json();
  const TuneOutcome& best = r.outcomes[r.best];
  return {{"setting", r.conf(best)},
          {"env", line_to_set_best(r)},
          {"place", r.best + 1},
          {"helps", r.helps},
          {"likely", answer.late.kind == LateVerdict::Kind::undecided && !r.shortage},
          {"interval", late_json(answer.late)}};
}

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

}  // namespace

std::string to_json(const TuneAnswer& answer) {
  const TuneResult& r = answer.result;
  const Json best = best_json(answer);
  std::vector<Json> results;
  for (std::size_t i = 0; i < answer.traces.size(); ++i) {
    Json result =
        result_json("tune", answer.traces[i], device_json(answer.devices[i]), runs_json(r, i));
    result["model_check"] = nullptr;
    if (answer.model_checks[i]) result["model_check"] = verify_run_json(*answer.model_checks[i]);
    const std::vector<Run>& now = r.baseline_outcome.runs;
    result["baseline"] = i < now.size() ? run_json(now[i]) : Json(nullptr);
    result["strategy"] = r.strategy;
    result["objective"] = name_of(r.objective);
    result["verdict"] = name_of(answer.verdict.cause);
    result["in_effect"] = answer.verdict.in_effect;
    result["state_beyond_device"] = state_beyond_json(answer.states_beyond[i]);
    result["shortage"] = request_in_room_json(r.shortage);
    result["tried"] = r.tried;
    result["replays"] = r.replayed;
    result["abandoned"] = r.abandoned;
    result["undetermined"] = answer.late.open;
    result["weighed"] = answer.late.weighed;
    result["every_split_size"] = r.every_split_size;
    result["finished"] = r.finished;
    result["torch_version"] = text_or_null(r.release);
    result["best"] = best;
    result["remarks"] = answer.remarks;
    if (answer.nothing_requested) {
      result["remarks"].push_back(nothing_requested_sentence(answer.traces[i]));
    }
    results.push_back(std::move(result));
  }
  if (results.size() == 1) return dump(results.front());
  const auto peak = [&](std::size_t i) {
    return answer.nothing_requested ? 0 : r.outcomes[r.best].runs[i].metrics.peak_reserved;
  };
  std::size_t worst = 0;
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (peak(i) > peak(worst)) worst = i;
  }
  Json object = head_json("tune");
  object["results"] = std::move(results);
  object["worst"] = worst;
  object["best"] = best;
  return dump(object);
}

}  // namespace memreplay

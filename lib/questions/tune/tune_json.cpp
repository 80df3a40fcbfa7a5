#include <algorithm>

#include "questions/settings/phrases.hpp"
#include "questions/tune/tune_report.hpp"
#include "report/parts/json_parts.hpp"
#include "report/parts/paragraphs.hpp"

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

/// Unset where the recordings determine the reserved peaks, or it was not looked into.
std::optional<LateVerdict> open_verdict(const LateVerdict& late) {
  using Kind = LateVerdict::Kind;
  return only_if(late.kind != Kind::not_late && late.kind != Kind::interrupted, late);
}

/// The answer's recommendation; null without a request, where nothing is tried and nothing advised.
const TuneOutcome* best_of(const TuneAnswer& answer) {
  const TuneResult& r = answer.result;
  return answer.nothing_requested || r.outcomes.empty() ? nullptr : &r.outcomes[r.best];
}

void late_fields(JsonFields& f, const LateVerdict& late) {
  f("peak_reserved_bytes", late.best, "[low, high]");
  f("baseline_peak_reserved_bytes", late.baseline, "[low, high]");
}

void best_fields(JsonFields& f, const TuneAnswer& answer) {
  f.called("tune_best");
  const TuneResult& r = answer.result;
  const TuneOutcome* best = best_of(answer);
  const bool there = best != nullptr;
  const bool open = answer.late.kind == LateVerdict::Kind::undecided && !r.shortage;
  f("setting", only_if(there, there ? r.conf(*best) : ""), "the best one; null: nothing to try");
  f("env", only_if(there, there ? line_to_set_best(r) : ""), "the line to paste");
  f("place", only_if(there, r.best + 1), "its rank, from 1");
  f("helps", there && r.helps, "it is better than the baseline");
  f("likely", there && open, "better by the estimates, but the ranges overlap");
  f("interval", each(there ? open_verdict(answer.late) : std::nullopt, late_fields),
    "of a recording that starts late");
}

void outcome_fields(JsonFields& f, const TuneOutcome& outcome, std::size_t trace,
                    const std::string& kept) {
  fields(f, trace < outcome.runs.size() ? outcome.runs[trace] : Run());
  f.called("tuned_run");
  std::vector<std::string> settings;
  for (const Setting& setting : outcome.settings) settings.push_back(conf_of(setting, kept));
  f("settings", settings, "all that give it, the simplest first");
  f("pareto", outcome.pareto,
    "nothing tried is better in one respect without being worse in another");
}

void search_fields(JsonFields& f, const TuneAnswer& answer) {
  const TuneResult& r = answer.result;
  f("tried", r.tried, "settings whose outcome is known or ruled out");
  f("replays", r.replayed, "settings replayed; the others provably give the same as one of these");
  f("abandoned", r.abandoned, "replays ended early because another setting is better");
  f("undetermined", answer.late.open, "outcomes that the recordings do not determine");
  f("weighed", answer.late.weighed, "outcomes that were estimated");
  f("every_split_size", r.every_split_size, "every value of max_split_size_mb alone was tried");
  f("finished", r.finished, "false: interrupted, or out of time");
  f("torch_version", unless_empty(r.release), "the PyTorch whose rules were used");
}

}  // namespace

void best_field(JsonFields& f, const TuneAnswer& answer) {
  f("best", Part{[&](JsonFields& best) { best_fields(best, answer); }}, "what to set");
}

void tuned_fields(JsonFields& f, const TuneAnswer& answer, std::size_t trace) {
  const TuneResult& r = answer.result;
  const auto outcome = [&](JsonFields& run, const TuneOutcome& of) {
    outcome_fields(run, of, trace, r.kept);
  };
  const std::vector<Run>& now = r.baseline_outcome.runs;
  result_fields(f, "tune", answer.traces[trace], answer.devices[trace], each(r.outcomes, outcome));
  model_check_field(f, answer.model_checks[trace]);
  f("baseline", only_if(trace < now.size(), trace < now.size() ? now[trace] : Run()),
    "the recorded setting, or the default");
  f("strategy", r.strategy, "whose settings");
  f("objective", name_of(r.objective), "what to minimise: reserved, calls, retries, full-device");
  f("verdict", name_of(answer.verdict.cause), "why the baseline runs out of memory, or none");
  f("cause", name_of(answer.verdict.cause), "the same as verdict, as every answer names it");
  f("in_effect", answer.verdict.in_effect, "a shortage although the request would fit by its size");
  f("state_beyond_device", answer.states_beyond[trace],
    "memory from before the recording exceeds the device");
  f("shortage", r.shortage, "the first request that no setting serves");
  search_fields(f, answer);
  best_field(f, answer);
  std::vector<std::string> remarks = answer.remarks;
  if (answer.nothing_requested) {
    remarks.push_back(nothing_requested_sentence(answer.traces[trace]));
  }
  f("remarks", remarks, "notes that belong to the answer");
}

std::string to_json(const TuneAnswer& answer) {
  const TuneResult& r = answer.result;
  std::vector<Json> results;
  for (std::size_t i = 0; i < answer.traces.size(); ++i) {
    JsonFields f;
    tuned_fields(f, answer, i);
    results.push_back(f.json());
  }
  if (results.size() == 1) return dump(results.front());
  const auto peak = [&](std::size_t i) {
    return answer.nothing_requested ? 0 : r.outcomes[r.best].runs[i].metrics.peak_reserved;
  };
  std::size_t worst = 0;
  for (std::size_t i = 1; i < results.size(); ++i) {
    if (peak(i) > peak(worst)) worst = i;
  }
  JsonFields f;
  head_fields(f, "tune");
  f.typed("results", Json(results), {}, "a result for each recording and device");
  f("worst", worst, "the index of the worst");
  best_field(f, answer);
  return dump(f.json());
}

}  // namespace memreplay

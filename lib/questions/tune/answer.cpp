#include "questions/tune/answer.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/error.hpp"
#include "core/text.hpp"
#include "program/judge.hpp"
#include "program/steps.hpp"
#include "program/summary.hpp"
#include "program/too_much.hpp"
#include "questions/explain/explained.hpp"
#include "questions/settings/search.hpp"
#include "run/devices.hpp"
#include "run/inputs.hpp"
#include "strategy/torch/lint.hpp"
#include "verify/subject.hpp"

namespace memreplay {
namespace {

/// The first reason why some trace is not exact; empty where all are.
std::string first_reason(const TuneOutcome& outcome) {
  const auto found = std::ranges::find(outcome.runs, false, &Run::exact);
  return found == outcome.runs.end() ? std::string() : found->inexact_because;
}

/// What the recorded settings are worth by the rules of the search.
std::vector<std::string> torch_remarks(const std::vector<const Subject*>& subjects,
                                       const TuneResult& result) {
  std::vector<std::string> said;
  for (const SettingIssue& issue : lint_settings(result.baseline_conf, result.release)) {
    said.push_back("The recorded setting: " + issue.text + ".");
  }
  for (const Subject* subject : subjects) {
    const std::string& conf = subject->recording().settings.conf;
    for (const SettingIssue& issue : lint_settings(conf, result.release)) {
      if (issue.severity != SettingIssue::Severity::error) continue;
      std::string text =
          fmt::format("Left out of the settings of {}: {}.", subject->recording().path, issue.text);
      if (std::ranges::find(said, text) == said.end()) said.push_back(std::move(text));
    }
  }
  return said;
}

/// What inserted calls do by themselves, of replays: before anything is estimated. Empty where none
/// were inserted.
std::string insertions_remark(const TuneResult& result) {
  if (!result.without_insertions) return {};
  const RunSoFar with = result.baseline_outcome.total();
  const RunSoFar without = result.without_insertions->total();
  return fmt::format(
      "The inserted empty_cache alone: {} reserves {} with it and {} without, with {} and {} "
      "device calls.",
      result.baseline, human_size(with.peak_reserved), human_size(without.peak_reserved),
      human_count(with.device_calls), human_count(without.device_calls));
}

/// What the reader must know beside the numbers of a search, at its end.
std::vector<std::string> search_remarks(const std::vector<const Subject*>& subjects,
                                        const std::set<std::string>& forbidden,
                                        const TuneResult& result) {
  std::vector<std::string> said;
  const bool torch = result.strategy == "torch";
  if (torch) said = torch_remarks(subjects, result);
  if (const std::string reason = first_reason(result.baseline_outcome); !reason.empty()) {
    said.push_back(fmt::format("{} is an estimate: {}.", result.baseline, reason));
  }
  if (torch && !forbidden.contains("expandable_segments") &&
      !forbidden.contains("max_split_size_mb")) {
    said.emplace_back(
        "Not combined, because they conflict: expandable_segments:True with max_split_size_mb or "
        "garbage_collection_threshold (memreplay lint says why).");
  }
  const std::string reason = first_reason(result.outcomes[result.best]);
  if (!reason.empty() && result.helps) {
    said.push_back(fmt::format("The recommendation is an estimate: {}.", reason));
  }
  return said;
}

std::vector<std::uint64_t> places_of(const std::string& insertion, const Subject& subject) {
  constexpr std::string_view kCall = "empty_cache@";
  if (!insertion.starts_with(kCall)) {
    throw UsageError(
        fmt::format("--insert is '{}'; expected empty_cache@EVENT, empty_cache@step or "
                    "empty_cache@SCOPE",
                    insertion));
  }
  const std::string where = insertion.substr(kCall.size());
  const Trace& trace = subject.trace();
  if (const auto event = parse_whole(where)) {
    if (*event < trace.size()) return {*event};
    throw UsageError(fmt::format("--insert: the recording has no event {}", *event));
  }
  if (where == "step") {
    const Steps steps = steps_of(subject.recording(), trace);
    if (steps.begins.empty()) throw UsageError("--insert: no steps are known in this recording");
    return steps.begins;
  }
  std::vector<std::uint64_t> begins;
  std::vector<std::string> scopes;
  for (const Phase& phase : annotated_phases(subject.recording(), trace)) {
    if (phase.name == where) begins.push_back(phase.from);
    if (std::ranges::find(scopes, phase.name) == scopes.end()) scopes.push_back(phase.name);
  }
  if (begins.empty()) {
    throw UsageError(
        fmt::format("--insert: no scope of this recording is called '{}'{}{}", where,
                    did_you_mean(where, scopes),
                    scopes.empty() ? "" : fmt::format(" ({})", fmt::join(scopes, ", "))));
  }
  return begins;
}

/// The events before which calls of empty_cache are inserted, ascending, each named
/// "empty_cache@WHERE": an event, a scope of the recording, or "step" for every one. Throws
/// UsageError where there is no such place, or more than one subject.
std::vector<std::uint64_t> insertions(const std::vector<std::string>& named,
                                      const std::vector<const Subject*>& subjects) {
  std::vector<std::uint64_t> events;
  if (!named.empty() && subjects.size() > 1) {
    throw UsageError("--insert needs a single trace (and --gpu, where it has several devices)");
  }
  for (const std::string& insertion : named) {
    const auto more = places_of(insertion, *subjects.front());
    events.insert(events.end(), more.begin(), more.end());
  }
  std::ranges::sort(events);
  return events;
}

std::set<std::string> forbidden_options(const TuneQuestion& question) {
  std::set<std::string> forbidden = question.forbidden;
  for (const std::string& option : question.allowed) {
    if (!forbidden.contains(option)) continue;
    throw UsageError(fmt::format("{} is both allowed and forbidden", option));
  }
  for (const std::string& name : options_to_vary(question.strategy)) {
    if (!question.allowed.empty() && !question.allowed.contains(name)) forbidden.insert(name);
  }
  return forbidden;
}

/// Notes what a search would be about.
void add_to_answer(const Chosen& chosen, const Subject& subject, const SizedDevice& device,
                   TuneAnswer& answer) {
  answer.traces.push_back(summarise(chosen));
  answer.devices.push_back(summarise(device));
  answer.model_checks.push_back(model_check(subject));
  answer.states_beyond.push_back(state_beyond(subject.trace(), device.options.room()));
  if (answer.states_beyond.back()) answer.verdict = {Cause::shortage, false};
}

/// Puts a recording on the bench, with the device that it gets, and says what it is.
void add_to_bench(const Chosen& chosen, const Subject& subject, const TuneQuestion& question,
                  Bench& bench, TuneAnswer& answer) {
  const SizedDevice device = sized_for(subject, question.setup);
  bench.subjects.push_back(&subject);
  bench.devices.push_back(device.options);
  bench.assumed_size.push_back(device.from == CapacityFrom::recorded_retries);
  bench.unknown_size.push_back(device.unknown_size);
  add_to_answer(chosen, subject, device, answer);
}

/// Without a request every setting is as good as any other, and none is advised.
TuneAnswer answer_without_requests(const Inputs& inputs, const TuneQuestion& question,
                                   const Control& control) {
  TuneAnswer answer;
  answer.nothing_requested = true;
  for (const Chosen& chosen : inputs.chosen()) {
    const Subject subject = chosen.subject(control);
    add_to_answer(chosen, subject, sized_for(subject, question.setup), answer);
  }
  answer.interrupted = control.stopped();
  return answer;
}

/// Says of every outcome which of its recordings end early.
void note_early_ends(TuneAnswer& answer) {
  const auto note = [&](TuneOutcome& outcome) {
    for (std::size_t i = 0; i < outcome.runs.size(); ++i) {
      outcome.runs[i].at_least = answer.traces[i].early_end.has_value();
    }
  };
  for (TuneOutcome& outcome : answer.result.outcomes) note(outcome);
  note(answer.result.baseline_outcome);
}

/// By what a replay keeps of it.
Refusal refusal_of(const std::optional<OomPlace>& oom, const Subject& subject,
                   const StrategySpec& spec, const SimulatedDeviceOptions& device) {
  if (!oom || !device.room()) return {.cause = Cause::unknown};
  const Bytes needed = device_bytes_for(oom->requested, subject.model_of(spec), device.granularity);
  return refusal_of(*oom, needed, device.capacity);
}

/// Explains the first request that the baseline is refused, and judges it as `explain` does, which
/// takes no trace whose events stay in their file.
void judge_refusal(const Bench& bench, const TuneQuestion& question, const Control& control,
                   TuneAnswer& answer) {
  TuneResult& r = answer.result;
  if (answer.verdict.cause != Cause::none) return;  // some state alone is too much
  Run* refused = nullptr;
  for (std::size_t i = 0; i < bench.subjects.size() && !answer.refusal; ++i) {
    const Subject& subject = *bench.subjects[i];
    Run& run = r.baseline_outcome.runs[i];
    const std::optional<EarlyEnd>& end = answer.traces[i].early_end;
    const bool untold = end && end->why == EarlyEnd::Why::oom_untold;
    if (run.serves() && !untold) continue;
    refused = &run;
    answer.refusal = subject.trace().streamed
                         ? refusal_of(run.metrics.first_oom, subject, parse_strategy(run.strategy),
                                      bench.devices[i])
                         : first_refusal(subject, question.strategy, question.setup, control);
  }
  if (!answer.refusal) return;
  answer.verdict = verdict_on(answer.refusal->cause, r.shortage.has_value());
  refused->refusal = answer.judged_refusal();
}

}  // namespace

JudgedRefusal TuneAnswer::judged_refusal() const {
  JudgedRefusal judged{.refusal = *refusal, .verdict = verdict};
  if (verdict.in_effect) judged.too_much = result.shortage;
  return judged;
}

TuneAnswer answer(const Inputs& inputs, const TuneQuestion& question, const Control& control) {
  const auto is_pinned = [](const Chosen& chosen) {
    return chosen.recording->format == kPinnedHostFormat;
  };
  if (std::ranges::any_of(inputs.chosen(), is_pinned)) {
    throw UsageError(
        "tune searches the settings of device memory; compare shows the effect of settings of "
        "pinned memory (-s pinned:pinned_max_cached_size_mb=64)");
  }
  const auto requests = [](const Chosen& chosen) { return requests_anything(*chosen.trace); };
  if (std::ranges::none_of(inputs.chosen(), requests)) {
    return answer_without_requests(inputs, question, control);
  }
  TuneAnswer answer;
  TuneOptions tuning;
  std::deque<Subject> subjects;
  for (const Chosen& chosen : inputs.chosen()) {
    if (!requests(chosen)) {
      answer.remarks.push_back(
          fmt::format("Left out, because nothing is requested there: gpu {} of {}.",
                      chosen.trace->gpu, chosen.recording->path));
      continue;
    }
    const Subject& subject = subjects.emplace_back(chosen.subject(control));
    add_to_bench(chosen, subject, question, tuning.bench, answer);
  }
  tuning.strategy = question.strategy;
  const std::string& own = subjects.front().recording().strategy;
  if (!tuning.strategy && !own.empty()) tuning.strategy = parse_strategy(own);
  tuning.objective = question.objective;
  tuning.forbidden = forbidden_options(question);
  tuning.release = question.setup.release;
  tuning.runs = question.runs.value_or(default_runs(tuning.bench));
  tuning.seconds = question.seconds;
  tuning.threads = question.threads;
  tuning.replaying.program.insert_empty_cache =
      insertions(question.insertions, tuning.bench.subjects);
  tuning.replaying.stops.cancelled = control.stop;
  tuning.progress = [&](double share) { control.show("settings tried", share); };
  answer.result = tuning.strategy ? tune_listed(tuning) : tune(tuning);
  if (answer.result.without_insertions) {
    answer.remarks.push_back(insertions_remark(answer.result));
  }
  tuning.progress = [&](double share) {
    control.show("estimating the time before the recording", share);
  };
  answer.late = weigh_late_recordings(tuning, answer.result);
  note_early_ends(answer);
  answer.interrupted = control.stopped();
  if (answer.result.outcomes.empty()) return answer;
  judge_refusal(tuning.bench, question, control, answer);
  if (tuning.strategy) answer.result.as_set = line_as_set(answer.result);
  for (const TraceSummary& trace : answer.traces) {
    if (trace.ooms == 0 || trace.early_end) continue;
    answer.remarks.push_back(
        fmt::format("{} went on after an OOM: with that memory, the program may have requested "
                    "something else from there on.",
                    trace.path));
  }
  for (std::string& remark :
       search_remarks(tuning.bench.subjects, tuning.forbidden, answer.result)) {
    answer.remarks.push_back(std::move(remark));
  }
  return answer;
}

}  // namespace memreplay

#include "analysis/tune/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <thread>

#include "analysis/recorded/recorded_device.hpp"
#include "analysis/recorded/steps.hpp"
#include "analysis/tune/late_recordings.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "inputs.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"
#include "report/parts/sentences.hpp"
#include "report/tune/tune.hpp"
#include "strategy/torch/lint.hpp"
#include "summaries.hpp"

namespace memreplay {
namespace {

constexpr std::array<const char*, 6> kVaried = {
    "expandable_segments",          "max_split_size_mb",
    "max_non_split_rounding_mb",    "large_segment_size_mb",
    "garbage_collection_threshold", "roundup_power2_divisions"};

struct Asked {
  std::set<std::string> allowed;
  std::set<std::string> forbidden;
  std::vector<std::string> insertions;  ///< "empty_cache@WHERE"
};

std::string option_name(const std::string& option, const std::string& text) {
  const std::vector<std::string> known(kVaried.begin(), kVaried.end());
  if (std::ranges::find(known, text) != known.end()) return text;
  throw UsageError(fmt::format("{} is '{}'; expected an option that tune varies{} ({})", option,
                               text, did_you_mean(text, known), fmt::join(known, ", ")));
}

void add_tune_options(CommandLine& line, TuneOptions& o, std::optional<std::uint64_t>& runs,
                      Asked& asked) {
  line.value("--objective", "reserved|calls|retries",
             "What is to be least, after OOMs. Default: reserved.", [&](const std::string& text) {
               constexpr std::array kObjectives = {Objective::reserved, Objective::calls,
                                                   Objective::retries};
               o.objective = kObjectives.at(
                   choice_argument("--objective", text, {"reserved", "calls", "retries"}));
             });
  line.value("--runs", "N", "Settings to try. Default: 1000, fewer for long recordings.",
             [&](const std::string& text) {
               runs = whole_argument("--runs", text);
               if (*runs == 0) throw UsageError("--runs is 0; expected 1 or more");
             });
  line.value("--seconds", "N", "Begin no further replay after N seconds. Default: no limit.",
             [&](const std::string& text) { o.seconds = number_argument("--seconds", text); });
  line.value("--threads", "N", "Replays at once. Default: the processor's cores.",
             [&](const std::string& text) {
               o.threads = static_cast<unsigned>(
                   std::clamp<std::uint64_t>(whole_argument("--threads", text), 1, 256));
             });
  line.repeated(
      "--allow", "OPTION", "Vary only this option, and others allowed so. Default: all.",
      [&](const std::string& text) { asked.allowed.insert(option_name("--allow", text)); });
  line.repeated(
      "--forbid", "OPTION", "Leave this option at its default. Any number.",
      [&](const std::string& text) { asked.forbidden.insert(option_name("--forbid", text)); });
  line.repeated("--insert", "empty_cache@WHERE",
                "As if the program called it there: an event, a scope's name, or step (every one).",
                [&](const std::string& text) { asked.insertions.push_back(text); });
}

// Longer recordings get fewer replays, so that the default ends within minutes.
std::uint64_t default_runs(const std::vector<const Subject*>& subjects) {
  constexpr std::uint64_t kEvents = 2'000'000'000;
  std::uint64_t events = 1;
  for (const Subject* subject : subjects) events += subject->trace().size();
  return std::clamp<std::uint64_t>(kEvents / events, 100, 1000);
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

std::vector<std::uint64_t> insertions(const Asked& asked,
                                      const std::vector<const Subject*>& subjects) {
  std::vector<std::uint64_t> events;
  if (!asked.insertions.empty() && subjects.size() > 1) {
    throw UsageError("--insert needs a single trace (and --gpu, where it has several devices)");
  }
  for (const std::string& insertion : asked.insertions) {
    const auto more = places_of(insertion, *subjects.front());
    events.insert(events.end(), more.begin(), more.end());
  }
  std::ranges::sort(events);
  return events;
}

// Of replays; estimates of what came before are only made with the insertions.
void add_effect_of_insertions(const TuneResult& result, std::vector<std::string>& said) {
  if (!result.without_insertions) return;
  const RunSoFar with = result.baseline_outcome.total();
  const RunSoFar without = result.without_insertions->total();
  said.push_back(fmt::format(
      "The inserted empty_cache alone: {} reserves {} with it and {} without, with {} and {} "
      "device calls.",
      result.baseline, human_size(with.peak_reserved), human_size(without.peak_reserved),
      human_count(with.device_calls), human_count(without.device_calls)));
}

// What the reader must know beside the numbers.
void add_remarks(const std::vector<const Subject*>& subjects, const TuneResult& result,
                 bool says_of_fights, std::vector<std::string>& said) {
  for (const SettingIssue& issue : lint_settings(result.baseline_conf, result.torch_version)) {
    said.push_back("The recorded setting: " + issue.text + ".");
  }
  for (const std::string& reason : result.baseline_outcome.inexact_because) {
    if (reason.empty()) continue;
    said.push_back(fmt::format("{} is an estimate: {}.", result.baseline, reason));
    break;
  }
  if (says_of_fights) {
    said.emplace_back(
        "Not combined, as they fight: expandable_segments:True with max_split_size_mb or "
        "garbage_collection_threshold (memreplay lint says why).");
  }
  for (const Subject* subject : subjects) {
    const auto oom = first_recorded_oom(subject->trace());
    if (!oom) continue;
    said.push_back(fmt::format(
        "{} was refused memory at event {}: what the program would have asked for instead, had it "
        "been served, is not in the recording.",
        subject->recording().path, human_count(oom->event)));
  }
  for (const std::string& reason : result.outcomes[result.best].inexact_because) {
    if (reason.empty() || !result.helps) continue;
    said.push_back(fmt::format("What is recommended is an estimate: {}.", reason));
    break;
  }
}

}  // namespace

int run_tune(const Command& command, const std::vector<std::string>& arguments) {
  InputOptions input;
  RunOptions options;
  ReportOptions reports;
  TuneOptions tuning;
  tuning.threads = std::max(1u, std::thread::hardware_concurrency());
  std::optional<std::uint64_t> runs;
  Asked asked;
  CommandLine line(command);
  add_input_options(line, input);
  add_tune_options(line, tuning, runs, asked);
  line.value("--torch-version", "X.Y.Z", "Rules of that PyTorch. Default: the recording's.",
             [&](const std::string& text) { options.torch_version = text; });
  add_device_options(line, options);
  add_report_options(line, reports, true);
  line.parse(arguments);
  require_paths(input, command);

  Printer printer(reports);
  const Inputs inputs(input);
  watch_for_interrupt();
  Progress progress(reports.quiet);
  std::deque<Subject> subjects;
  std::vector<const Subject*> all;
  TuneReport report;
  for (const Chosen& chosen : inputs.chosen()) {
    const Subject& subject = subjects.emplace_back(chosen.subject(progress));
    all.push_back(&subject);
    SimulatedDeviceOptions device = options.device;
    const auto room = device.capacity ? std::nullopt : recorded_room(subject);
    if (room) device.capacity = room->bytes + device.reserve;
    if (room && !room->stated) {
      report.remarks.push_back(fmt::format(
          "How large the device was is not in {}; it was full at some time, and {} is the least on "
          "which all of it happens (--capacity says otherwise).",
          chosen.recording->path, human_size(room->bytes)));
    }
    tuning.bench.devices.push_back(device);
    tuning.bench.assumed_size.push_back(room && !room->stated);
    report.traces.push_back(summarise(*chosen.recording, *chosen.trace));
    report.devices.push_back(summarise(device));
    report.model_checks.push_back(model_check(subject));
  }
  for (const std::string& option : asked.allowed) {
    if (!asked.forbidden.contains(option)) continue;
    throw UsageError(fmt::format("{} is both allowed and forbidden", option));
  }
  for (const char* option : kVaried) {
    if (!asked.allowed.empty() && !asked.allowed.contains(option)) asked.forbidden.insert(option);
  }
  tuning.forbidden = asked.forbidden;
  tuning.torch_version = options.torch_version;
  tuning.runs = runs.value_or(default_runs(all));
  tuning.replaying.insert_empty_cache = insertions(asked, all);
  tuning.replaying.cancelled = &interrupted();
  tuning.progress = [&](double share) { progress.show("settings tried", share); };
  tuning.bench.subjects = all;
  report.result = tune(tuning);
  add_effect_of_insertions(report.result, report.remarks);
  tuning.progress = [&](double share) { progress.show("weighing what came before", share); };
  report.late = weigh_late_recordings(tuning, report.result);
  progress.clear();
  report.interrupted = interrupted();
  if (report.result.outcomes.empty()) return kInterrupted;
  const bool could_fight = !tuning.forbidden.contains("expandable_segments") &&
                           !tuning.forbidden.contains("max_split_size_mb");
  add_remarks(all, report.result, could_fight, report.remarks);
  printer.print({[&] { return tune_text(report, terminal_style()); },
                 [&] { return tune_json(report); }, [&] { return tune_table(report); },
                 [&] { return answered(tune_text(report, {}), tune_table(report)); }});
  return report.interrupted ? kInterrupted : kDone;
}

}  // namespace memreplay

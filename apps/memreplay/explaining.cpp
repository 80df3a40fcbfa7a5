#include "explaining.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "analysis/recorded/recorded_device.hpp"
#include "analysis/tune/late_recordings.hpp"
#include "analysis/tune/tune.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "strategy/torch/lint.hpp"
#include "summaries.hpp"

namespace memreplay {
namespace {

std::string pool_name(const PoolId& id) {
  return id == PoolId{} ? "" : fmt::format("({}, {})", id.first, id.second);
}

// A short search, so that the answer names the setting that helps.
void search_shortly(const Subject& subject, const SimulatedDeviceOptions& device,
                    const ExplainAsked& asked, Progress& progress, ExplainReport& report) {
  const Explanation& e = report.explanation;
  TuneOptions tuning;
  tuning.bench = {{&subject}, {device}, {false}};
  tuning.torch_version = asked.run.torch_version;
  tuning.threads = std::max(1u, std::thread::hardware_concurrency());
  const std::uint64_t events = subject.trace().size();
  if (e.at_oom) tuning.replaying.to = e.event + 1;
  tuning.runs = std::clamp<std::uint64_t>(
      asked.search_events / (std::min(tuning.replaying.to, events) + 1), 8, asked.most_settings);
  tuning.replaying.cancelled = &interrupted();
  progress.show("trying settings", 0.6);
  TuneResult tuned = tune(tuning);
  if (tuned.outcomes.empty()) return;
  tuning.late_events = asked.search_events;
  tuning.progress = [&](double share) { progress.show("weighing what came before", share); };
  report.late = weigh_late_recordings(tuning, tuned);
  report.tuned = std::move(tuned);
}

}  // namespace

ExplainReport explained(const Chosen& chosen, const Subject& subject, const ExplainAsked& asked,
                        Progress& progress) {
  ExplainReport report;
  report.trace = summarise(*chosen.recording, *chosen.trace);
  report.model_check = model_check(subject);
  report.streams = subject.trace().streams;
  if (report.streams.empty()) report.streams.push_back(0);
  for (const PoolId& pool : subject.trace().pools) report.pool_names.push_back(pool_name(pool));

  SimulatedDeviceOptions device = asked.run.device;
  const auto room = recorded_room(subject);
  if (!device.capacity && room) device.capacity = room->bytes + device.reserve;
  ExplainOptions options = asked.explain;
  if (options.at && *options.at > subject.trace().size()) {
    throw UsageError(fmt::format("--at is {}; {} has {} events", *options.at,
                                 chosen.recording->path, subject.trace().size()));
  }
  options.total = asked.run.device.capacity;

  // A device too small for what was recorded asks what would have happened on it.
  const bool fits = !asked.run.device.capacity ||
                    recorded_peak_reserved(subject.trace()) + device.reserve <= *device.capacity;
  const bool as_recorded = asked.run.strategies.empty() && shows_segments(subject) && fits;
  std::unique_ptr<MomentSource> source;
  StrategySpec spec = parse_strategy("recorded");
  if (as_recorded) {
    source = std::make_unique<RecordedMoments>(subject);
  } else {
    spec = asked.run.strategies.empty() ? usual_strategy(*chosen.recording)
                                        : asked.run.strategies.front();
    report.strategy = spec.text;
    ReplayOptions replaying;
    replaying.start = asked.run.start;
    replaying.cancelled = &interrupted();
    // Behind a refused request the program would have gone another way.
    replaying.stop_at_oom = !options.at;
    options.total = device.capacity;
    source = std::make_unique<ReplayedMoments>(
        subject, spec, TrialOptions{.device = device, .torch_version = asked.run.torch_version},
        replaying);
  }
  const auto model = subject.settings() || spec.name != "recorded"
                         ? subject.model_of(spec, asked.run.torch_version)
                         : std::nullopt;
  if (model) {
    options.settings = model->settings;
    report.conf = conf_of(setting_of(model->settings), {});
  }
  progress.show("explaining " + chosen.recording->path, 0.3);
  report.explanation = explain(subject, *source, options);
  if (report.explanation.unplaced > 0) {
    report.remarks.push_back(
        fmt::format("{} live blocks lie in no segment that the recording shows.",
                    human_count(report.explanation.unplaced)));
  }
  for (const SettingIssue& issue : lint_settings(report.conf, asked.run.torch_version)) {
    report.remarks.push_back("The setting: " + issue.text + ".");
  }
  if (!subject.trace().coverage.starts_empty) {
    report.remarks.emplace_back(
        "The recording starts late: blocks from before it have no age and maybe no stack.");
    if (!as_recorded) {
      report.remarks.push_back(fmt::format(
          "What is shown is one replay from the recorded start; memreplay replay -s {} estimates "
          "what the program itself would have reserved.",
          spec.text));
    }
  }
  for (const Phase& phase : options.phases) {
    if (phase.to <= subject.trace().size()) continue;
    throw UsageError(fmt::format("--phase {} goes to {}; {} has {} events", phase.name, phase.to,
                                 chosen.recording->path, subject.trace().size()));
  }
  const bool torch_memory = as_recorded || model;
  if (torch_memory && report.explanation.cause != Cause::shortage && !interrupted()) {
    search_shortly(subject, device, asked, progress, report);
  }
  return report;
}

}  // namespace memreplay

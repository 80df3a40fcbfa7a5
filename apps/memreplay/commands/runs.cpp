#include "commands/runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "analysis/late_start/late_start.hpp"
#include "core/error.hpp"
#include "core/text.hpp"
#include "inputs.hpp"
#include "options/device.hpp"
#include "output/perfetto_file.hpp"
#include "output/run_files.hpp"
#include "output/terminal.hpp"
#include "replay/exactness.hpp"
#include "replay/trial.hpp"
#include "replay/watch/holding_log.hpp"
#include "replay/watch/run_recorder.hpp"
#include "report/parts/text_style.hpp"
#include "report/ranking.hpp"
#include "report/run/torch_summary.hpp"
#include "summaries.hpp"

namespace memreplay {
namespace {

std::uint64_t event_at(const Trace& trace, const TracePoint& point, const char* option) {
  if (!point.seconds) return point.event;
  if (trace.times_us.empty()) {
    throw UsageError(fmt::format("{} in seconds: this recording has no times", option));
  }
  const double from_first = *point.seconds * 1e6;
  const auto first = trace.times_us.front();
  const auto found = std::find_if(
      trace.times_us.begin(), trace.times_us.end(),
      [&](std::int64_t time) { return static_cast<double>(time - first) >= from_first; });
  return static_cast<std::uint64_t>(found - trace.times_us.begin());
}

ReplayOptions replay_options(const Trace& trace, const RunOptions& options) {
  ReplayOptions result;
  if (options.from) result.from = event_at(trace, *options.from, "--from");
  if (options.to) result.to = event_at(trace, *options.to, "--to");
  result.start = options.start;
  result.ignore_empty_cache = options.ignore_empty_cache;
  result.stop_at_oom = options.stop_at_oom;
  result.oom_report = options.oom_report;
  result.scale = options.scale;
  result.paced = options.paced;
  if (options.paced && trace.times_us.empty()) {
    throw UsageError("--pace recorded: this recording has no times");
  }
  result.cancelled = &interrupted();
  return result;
}

Bytes counter_of(const RunMetrics& metrics, std::string_view name) {
  const auto found =
      std::ranges::find(metrics.counters, name, [](const auto& counter) { return counter.first; });
  return found == metrics.counters.end() ? 0 : static_cast<Bytes>(found->second);
}

/// What watches the first of several replays.
struct Watchers {
  RunFiles* files = nullptr;
  HoldingLog* holdings = nullptr;
  std::optional<RunPicture>* picture = nullptr;  ///< to be filled in
  RunsWatcher* runs = nullptr;

  bool any() const {
    return (files != nullptr && files->wants_any()) || holdings != nullptr || picture != nullptr ||
           runs != nullptr;
  }
};

ReplayResult replay_once(const Subject& subject, const StrategySpec& spec, const OpenDevice& device,
                         const RunOptions& options, const std::shared_ptr<const Plan>& plan,
                         Watchers watchers, ReplayOptions replaying) {
  RunFiles* files = watchers.files;
  Trial trial(subject, spec,
              {.device = device.options,
               .memory = device.memory.get(),
               .touch = touch_of(device, options),
               .timed = device.timed,
               .cost = options.cost,
               .torch_version = options.torch_version,
               .uses = options.uses,
               .audit = options.audit,
               .log_device = (files != nullptr && files->wants_device_events()) ||
                             (watchers.picture != nullptr && !options.perfetto.empty()) ||
                             watchers.runs != nullptr},
              plan);
  ObserverGroup observers;
  if (files != nullptr) files->observe(subject.trace(), trial.log(), observers);
  if (watchers.holdings != nullptr) observers.add(*watchers.holdings);
  std::optional<RunRecorder> recorder;
  if (watchers.picture != nullptr) {
    observers.add(
        recorder.emplace(subject.trace(), trial.device(), trial.log(),
                         RunRecorder::Options{options.points, replaying.scale, replaying.to}));
  }
  if (watchers.runs != nullptr) {
    watchers.runs->begin_run(subject.trace(), trial.log(), observers);
  }
  if (!observers.empty()) replaying.observer = &observers;
  ReplayResult result = trial.run(replaying);
  if (watchers.runs != nullptr) watchers.runs->end_run();
  if (files != nullptr) files->finish(subject.trace(), trial.strategy());
  if (recorder) *watchers.picture = recorder->picture();
  return result;
}

/// `rmm-arena:arena_size=fit` stands for the smallest arena, in whole MiB, in which the recording
/// runs without an OOM, found by bisection.
StrategySpec fitted(const Subject& subject, const StrategySpec& spec, const RunOptions& options,
                    Progress& progress) {
  const OpenDevice simulated{.options = options.device};
  if (spec.name != "rmm-arena" || find_option(spec, "arena_size") != "fit") return spec;
  const auto sized = [&](Bytes mebibytes) {
    return parse_strategy(fmt::format("rmm-arena:arena_size={}MiB", mebibytes));
  };
  ReplayOptions replaying = replay_options(subject.trace(), options);
  replaying.stop_at_oom = true;
  progress.show("fitting " + spec.name, 0);
  const RunMetrics whole =
      replay_once(subject, parse_strategy("rmm-arena"), simulated, options, nullptr, {}, replaying)
          .metrics;
  Bytes fits = round_up(counter_of(whole, "touched"), kMiB) / kMiB;
  Bytes fails = whole.peak_allocated / kMiB;
  if (whole.ooms > 0) return parse_strategy("rmm-arena");
  while (fails + 1 < fits && !interrupted()) {
    const Bytes middle = fails + (fits - fails) / 2;
    const RunMetrics tried =
        replay_once(subject, sized(middle), simulated, options, nullptr, {}, replaying).metrics;
    (tried.ooms == 0 ? fits : fails) = middle;
  }
  return sized(fits);
}

/// Replays that count are those after the warm-up; their times are taken together.
ReplayResult replay_repeatedly(const Subject& subject, const StrategySpec& spec,
                               const OpenDevice& device, const RunOptions& options,
                               const std::shared_ptr<const Plan>& plan, Watchers watchers,
                               const ReplayOptions& replaying) {
  const std::uint64_t usual = device.memory && options.repeat > 1 ? 1 : 0;
  for (std::uint64_t i = 0; i < options.warm_up.value_or(usual) && !interrupted(); ++i) {
    replay_once(subject, spec, device, options, plan, {}, replaying);
  }
  ReplayResult result = replay_once(subject, spec, device, options, plan, watchers, replaying);
  RunMetrics& m = result.metrics;
  if (options.repeat < 2) return result;
  m.repeat_seconds = {m.replay_seconds};
  for (std::uint64_t i = 1; i < options.repeat && result.finished && !interrupted(); ++i) {
    const ReplayResult again = replay_once(subject, spec, device, options, plan, {}, replaying);
    if (!again.finished) break;
    m.repeat_seconds.push_back(again.metrics.replay_seconds);
    if (m.times) m.times->add(*again.metrics.times);
  }
  std::vector<double> seconds = m.repeat_seconds;
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  m.replay_seconds = *middle;
  return result;
}

/// One strategy on one device.
RunReport replay_job(const Subject& subject, const StrategySpec& spec, const OpenDevice& device,
                     const RunOptions& options, const LateStart& late, Watchers watchers,
                     Progress& progress) {
  RunReport report;
  if (options.plot || !options.perfetto.empty()) watchers.picture = &report.picture;
  ReplayOptions replaying = replay_options(subject.trace(), options);
  replaying.progress = [&](double share) { progress.show(spec.text, share); };
  const std::shared_ptr<const Plan> plan = plan_for(subject, spec, replaying);
  std::optional<ReplayResult> plain;  // where the start may not determine it
  std::optional<WarmEstimate> estimate;
  if (late.applies() && !device.memory) {
    plain = replay_once(subject, spec, device, options, plan, {}, replaying);
    if (plain->finished) {
      estimate = late.instead_of(*plain, spec, options.torch_version, device.options);
    }
    if (estimate) replaying.begin_with = late.warm().beginning(estimate->nearest);
  }
  const bool once = options.repeat < 2 && options.warm_up.value_or(0) == 0;
  ReplayResult result =
      plain && !estimate && once && !watchers.any()
          ? std::move(*plain)
          : replay_repeatedly(subject, spec, device, options, plan, watchers, replaying);

  report.strategy = spec.text;
  report.device = device.summary;
  report.gpu = subject.trace().gpu;
  report.inexact_because =
      options.scale == 1 ? why_inexact(subject, spec, options.torch_version, device.room(), result)
                         : fmt::format("every size was divided by {}", human_count(options.scale));
  report.exact = report.inexact_because.empty();
  report.finished = result.finished;
  if (options.oom_report) report.oom_report = std::move(result.oom_report);
  report.metrics = std::move(result.metrics);
  if (estimate) {
    estimate->enter_into(report.metrics);
    report.interval = estimate->interval();
    report.refused_before = estimate->refused_before;
  }
  return report;
}

Agreement agreement(const HoldingLog& here, const HoldingLog& there, const OpenDevice& other) {
  Agreement agreement{.with = other.name,
                      .events = std::min(here.holdings().size(), there.holdings().size())};
  if (const auto event = first_difference(here, there)) {
    const HoldingLog::Holding& a = here.holdings()[*event];
    const HoldingLog::Holding& b = there.holdings()[*event];
    agreement.first_difference = {*event, a.allocated, a.reserved, b.allocated, b.reserved};
  }
  return agreement;
}

// The plot is for people; what is only for a file goes there at once.
void keep_picture(const Chosen& chosen, RunReport& run, const RunOptions& options,
                  PerfettoFile& perfetto) {
  if (run.picture) perfetto.add_run(chosen, run.name(), *run.picture);
  if (!options.plot) run.picture.reset();
}

/// One strategy on every device; the later ones are laid beside the first.
void replay_on_all(const Subject& subject, const StrategySpec& asked,
                   const std::vector<OpenDevice>& devices, const RunOptions& options,
                   const LateStart& late, std::deque<RunFiles>::iterator& files,
                   RunsWatcher* watcher, Progress& progress, std::vector<RunReport>& runs) {
  const StrategySpec spec = fitted(subject, asked, options, progress);
  HoldingLog first;
  for (const OpenDevice& device : devices) {
    if (interrupted()) return;
    HoldingLog holdings;
    HoldingLog& log = &device == &devices.front() ? first : holdings;
    RunFiles& own_files = *files++;
    RunReport run = replay_job(
        subject, spec, device, options, late,
        {.files = &own_files, .holdings = devices.size() > 1 ? &log : nullptr, .runs = watcher},
        progress);
    run.beside_others = devices.size() > 1;
    if (&log == &holdings) run.agreement = agreement(holdings, first, devices.front());
    runs.push_back(std::move(run));
  }
}

}  // namespace

std::string appendices(const RunOptions& options, const std::vector<ReplayReport>& reports) {
  return (options.torch_summary ? torch_summaries(reports) : std::string()) +
         (options.oom_report ? oom_reports(reports) : std::string());
}

Runs run_all(const InputOptions& input, const RunOptions& options, const ReportOptions& reports,
             DefaultStrategies defaults, RunsWatcher* watcher) {
  const std::vector<OpenDevice> devices = open_devices(options);
  const Inputs inputs(input);
  std::vector<std::vector<StrategySpec>> strategies;  // of each chosen device
  std::size_t count = 0;
  for (const Chosen& chosen : inputs.chosen()) {
    strategies.push_back(options.strategies.empty() ? defaults(*chosen.recording, options)
                                                    : options.strategies);
    count += strategies.back().size() * devices.size();
  }
  check_outputs(options, reports, count);
  PerfettoFile perfetto(options.perfetto, inputs.chosen());
  std::deque<RunFiles> files;
  for (std::size_t number = 1; number <= count; ++number) files.emplace_back(options, number);

  watch_for_interrupt();
  Progress progress(reports.quiet);
  Runs runs;
  auto next_files = files.begin();
  auto next_strategies = strategies.begin();
  for (const Chosen& chosen : inputs.chosen()) {
    ReplayReport report{
        summarise(*chosen.recording, *chosen.trace), devices.front().summary, {}, {}};
    const Subject subject = chosen.subject(progress);
    report.model_check = model_check(subject);
    perfetto.add_phases(chosen);
    if (watcher != nullptr) watcher->begin_trace(chosen, subject);
    const LateStart late(subject, replay_options(subject.trace(), options));
    for (const StrategySpec& spec : *next_strategies++) {
      const std::size_t before = report.runs.size();
      replay_on_all(subject, spec, devices, options, late, next_files, watcher, progress,
                    report.runs);
      for (std::size_t run = before; run < report.runs.size(); ++run) {
        keep_picture(chosen, report.runs[run], options, perfetto);
      }
    }
    set_places(report.runs);
    runs.reports.push_back(std::move(report));
  }
  progress.clear();
  runs.interrupted = interrupted();
  if (!runs.interrupted) {
    for (RunFiles& run : files) run.commit();
    perfetto.commit(reports.quiet);
  }
  return runs;
}

}  // namespace memreplay

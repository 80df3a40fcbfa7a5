#include "runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/error.hpp"
#include "device/ledger.hpp"
#include "replay/planning.hpp"
#include "replay/verify.hpp"
#include "replay/what_if.hpp"
#include "report/ranking.hpp"
#include "report/text.hpp"
#include "report/torch_summary.hpp"
#include "run_files.hpp"
#include "summaries.hpp"
#include "terminal.hpp"

namespace memreplay {
namespace {

struct Job {
  const Recording& recording;
  const Trace* trace;  ///< as verification reads it
  std::vector<StrategySpec> strategies;
  std::optional<VerifyResult> verified;  ///< nothing for recordings of other allocators

  RecordedSettings recorded;  ///< of the recording, as verification reads them

  const RecordedSettings* settings() const { return is_torch(recording) ? &recorded : nullptr; }
};

// `recorded` follows the release that the recording fits, unless one is given.
std::string version_for(const Job& job, const StrategySpec& spec, const RunOptions& options) {
  if (!options.torch_version.empty() || spec.name != "recorded" || !job.verified) {
    return options.torch_version;
  }
  return job.verified->torch_version;
}

std::optional<TorchModel> model_of(const Job& job, const StrategySpec& spec,
                                   const RunOptions& options) {
  return torch_model(spec, job.settings(), version_for(job, spec, options));
}

std::uint64_t event_at(const Trace& trace, const Moment& moment, const char* option) {
  if (!moment.seconds) return moment.event;
  if (trace.times_us.empty()) {
    throw UsageError(fmt::format("{} in seconds: this recording has no times", option));
  }
  const double from_first = *moment.seconds * 1e6;
  const auto first = trace.times_us.front();
  const auto found = std::find_if(
      trace.times_us.begin(), trace.times_us.end(),
      [&](std::int64_t time) { return static_cast<double>(time - first) >= from_first; });
  return static_cast<std::uint64_t>(found - trace.times_us.begin());
}

ReplayOptions replay_options(const Job& job, const StrategySpec& spec, const RunOptions& options) {
  ReplayOptions result;
  if (options.from) result.from = event_at(*job.trace, *options.from, "--from");
  if (options.to) result.to = event_at(*job.trace, *options.to, "--to");
  result.start = options.start;
  result.adopt_start =
      is_torch(job.recording) && adopts_start(job.recording, model_of(job, spec, options));
  if (job.verified) result.reading = &job.verified->reading;
  result.ignore_empty_cache = options.ignore_empty_cache;
  result.stop_at_oom = options.stop_at_oom;
  result.oom_report = options.oom_report;
  result.cancelled = &interrupted();
  return result;
}

std::optional<Bytes> room_on(const SimulatedDeviceOptions& device) {
  if (!device.capacity) return std::nullopt;
  return *device.capacity - std::min(*device.capacity, device.reserve);
}

Bytes counter_of(const RunMetrics& metrics, std::string_view name) {
  const auto found =
      std::ranges::find(metrics.counters, name, [](const auto& counter) { return counter.first; });
  return found == metrics.counters.end() ? 0 : static_cast<Bytes>(found->second);
}

DeviceUsage calls_of(const RunMetrics& m) {
  DeviceUsage usage;
  usage.allocs = m.device_allocs;
  usage.frees = m.device_frees;
  usage.maps = m.device_maps;
  usage.unmaps = m.device_unmaps;
  return usage;
}

ReplayResult replay_once(const Job& job, const StrategySpec& spec, const RunOptions& options,
                         const std::shared_ptr<const Plan>& plan, RunFiles* files,
                         ReplayOptions replaying) {
  SimulatedDevice simulated(options.device);
  LoggedDevice logged(simulated);
  const bool logs = files != nullptr && files->wants_device_events();
  DeviceModel& plain = logs ? static_cast<DeviceModel&>(logged) : simulated;
  Ledger ledger(spec.text);
  AuditedDevice audited(plain, ledger);
  DeviceModel& device = options.audit ? static_cast<DeviceModel&>(audited) : plain;
  if (options.audit) replaying.ledger = &ledger;
  if (files != nullptr) replaying.observer = files->observe(*job.trace, logged);

  StrategyContext context{device,           options.device.capacity,
                          job.settings(),   version_for(job, spec, options),
                          job.trace->pools, {}};
  if (job.verified) context.pool_options = job.verified->reading.pool_options;
  context.texts = job.recording.texts;
  context.uses = options.uses;
  context.plan = plan;
  const auto strategy = make_strategy(spec, context);
  ReplayResult result = replay(*job.trace, *strategy, device, replaying);
  if (files != nullptr) files->finish(*job.trace, *strategy);
  result.metrics.modelled_device_seconds = modelled_seconds(options.cost, calls_of(result.metrics));
  return result;
}

/// `rmm-arena:arena_size=fit` stands for the smallest arena, in whole MiB, in which the recording
/// runs without an OOM, found by bisection.
StrategySpec fitted(const Job& job, const StrategySpec& spec, const RunOptions& options,
                    Progress& progress) {
  if (spec.name != "rmm-arena" || find_option(spec, "arena_size") != "fit") return spec;
  const auto sized = [&](Bytes mebibytes) {
    return parse_strategy(fmt::format("rmm-arena:arena_size={}MiB", mebibytes));
  };
  ReplayOptions replaying = replay_options(job, spec, options);
  replaying.stop_at_oom = true;
  progress.show("fitting " + spec.name, 0);
  const RunMetrics whole =
      replay_once(job, parse_strategy("rmm-arena"), options, nullptr, nullptr, replaying).metrics;
  Bytes fits = round_up(counter_of(whole, "touched"), kMiB) / kMiB;
  Bytes fails = whole.peak_allocated / kMiB;
  if (whole.ooms > 0) return parse_strategy("rmm-arena");
  while (fails + 1 < fits && !interrupted()) {
    const Bytes middle = fails + (fits - fails) / 2;
    const RunMetrics tried =
        replay_once(job, sized(middle), options, nullptr, nullptr, replaying).metrics;
    (tried.ooms == 0 ? fits : fails) = middle;
  }
  return sized(fits);
}

RunReport replay_job(const Job& job, const StrategySpec& asked, const RunOptions& options,
                     RunFiles& files, Progress& progress) {
  const StrategySpec spec = fitted(job, asked, options, progress);
  ReplayOptions replaying = replay_options(job, spec, options);
  replaying.progress = [&](double share) { progress.show(spec.text, share); };
  std::shared_ptr<const Plan> plan;
  if (const auto wish = plan_wish(spec)) plan = make_plan(*job.trace, *wish, replaying);
  ReplayResult result = replay_once(job, spec, options, plan, &files, replaying);
  std::vector<double> seconds = {result.metrics.replay_seconds};
  for (std::uint64_t i = 1; i < options.repeat && result.finished; ++i) {
    const ReplayResult again = replay_once(job, spec, options, plan, nullptr, replaying);
    if (again.finished) seconds.push_back(again.metrics.replay_seconds);
    if (interrupted()) break;
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  result.metrics.replay_seconds = *middle;

  RunReport report;
  report.strategy = spec.text;
  report.gpu = job.trace->gpu;
  report.inexact_because =
      why_inexact(job.recording, *job.trace, model_of(job, spec, options),
                  job.verified ? &*job.verified : nullptr, room_on(options.device), result);
  report.exact = report.inexact_because.empty();
  report.finished = result.finished;
  if (options.oom_report) report.oom_report = std::move(result.oom_report);
  report.metrics = std::move(result.metrics);
  return report;
}

std::vector<Recording> read_all(const InputOptions& input) {
  std::vector<Recording> recordings;
  for (const std::string& path : input.paths) {
    recordings.push_back(read_recording(path, input.read));
  }
  return recordings;
}

std::vector<Job> jobs_of(const std::vector<Recording>& recordings, const InputOptions& input,
                         const RunOptions& options, DefaultStrategies defaults) {
  std::vector<Job> jobs;
  for (const Recording& recording : recordings) {
    const auto traces = chosen_traces(recording, input.gpu);
    if (traces.empty()) {
      throw InputError(recording.path, "", "has neither events nor memory; nothing to replay");
    }
    for (const Trace* trace : traces) {
      jobs.push_back(
          {recording, trace,
           options.strategies.empty() ? defaults(recording, options) : options.strategies,
           std::nullopt, recording.settings});
    }
  }
  return jobs;
}

}  // namespace

std::string appendices(const RunOptions& options, const std::vector<ReplayReport>& reports) {
  return (options.torch_summary ? torch_summaries(reports) : std::string()) +
         (options.oom_report ? oom_reports(reports) : std::string());
}

Runs run_all(const InputOptions& input, const RunOptions& options, const ReportOptions& reports,
             DefaultStrategies defaults) {
  const std::vector<Recording> recordings = read_all(input);
  std::vector<Job> jobs = jobs_of(recordings, input, options, defaults);
  std::size_t count = 0;
  for (const Job& job : jobs) count += job.strategies.size();
  check_outputs(options, reports, count);
  std::deque<RunFiles> files;
  for (std::size_t number = 1; number <= count; ++number) files.emplace_back(options, number);

  watch_for_interrupt();
  Progress progress(reports.quiet);
  Runs runs;
  auto next_files = files.begin();
  for (Job& job : jobs) {
    ReplayReport report{summarise(job.recording, *job.trace), summarise(options.device), {}, {}};
    if (is_torch(job.recording)) {
      progress.show("reading " + job.recording.path, 0);
      job.verified = verify(job.recording, *job.trace);
      if (job.verified->reading.corrected) job.trace = job.verified->reading.corrected.get();
      job.recorded.request_padding = job.verified->reading.request_padding;
      report.model_check = summarise(*job.verified);
    }
    for (const StrategySpec& spec : job.strategies) {
      if (interrupted()) break;
      report.runs.push_back(replay_job(job, spec, options, *next_files++, progress));
    }
    set_places(report.runs);
    runs.reports.push_back(std::move(report));
  }
  progress.clear();
  runs.interrupted = interrupted();
  if (!runs.interrupted) {
    for (RunFiles& run : files) run.commit();
  }
  return runs;
}

}  // namespace memreplay

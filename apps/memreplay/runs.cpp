#include "runs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

#include "core/error.hpp"
#include "core/text.hpp"
#include "device/ledger.hpp"
#include "replay/verify.hpp"
#include "report/ranking.hpp"
#include "run_files.hpp"
#include "summaries.hpp"
#include "terminal.hpp"

namespace memreplay {
namespace {

struct Job {
  const Recording& recording;
  const Trace& trace;
  std::vector<StrategySpec> strategies;
};

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
  if (options.from) result.from = event_at(job.trace, *options.from, "--from");
  if (options.to) result.to = event_at(job.trace, *options.to, "--to");
  result.start = options.start;
  result.adopt_start = spec.name == "recorded";
  result.stop_at_oom = options.stop_at_oom;
  result.cancelled = &interrupted();
  return result;
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
                         RunFiles* files, ReplayOptions replaying) {
  SimulatedDevice simulated(options.device);
  LoggedDevice logged(simulated);
  const bool logs = files != nullptr && files->wants_device_events();
  DeviceModel& plain = logs ? static_cast<DeviceModel&>(logged) : simulated;
  Ledger ledger(spec.text);
  AuditedDevice audited(plain, ledger);
  DeviceModel& device = options.audit ? static_cast<DeviceModel&>(audited) : plain;
  if (options.audit) replaying.ledger = &ledger;
  if (files != nullptr) replaying.observer = files->observe(job.trace, logged);

  const RecordedSettings* recorded = is_torch(job.recording) ? &job.recording.settings : nullptr;
  const auto strategy = make_strategy(
      spec, {device, options.device.capacity, recorded, options.torch_version, job.trace.pools});
  ReplayResult result = replay(job.trace, *strategy, device, replaying);
  if (files != nullptr) files->finish(job.trace, *strategy);
  result.metrics.modelled_device_seconds = modelled_seconds(options.cost, calls_of(result.metrics));
  return result;
}

RunReport replay_job(const Job& job, const StrategySpec& spec, const RunOptions& options,
                     RunFiles& files, Progress& progress) {
  ReplayOptions replaying = replay_options(job, spec, options);
  replaying.progress = [&](double share) { progress.show(spec.text, share); };
  ReplayResult result = replay_once(job, spec, options, &files, replaying);
  std::vector<double> seconds = {result.metrics.replay_seconds};
  for (std::uint64_t i = 1; i < options.repeat && result.finished; ++i) {
    const ReplayResult again = replay_once(job, spec, options, nullptr, replaying);
    if (again.finished) seconds.push_back(again.metrics.replay_seconds);
    if (interrupted()) break;
  }
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::nth_element(seconds.begin(), middle, seconds.end());
  result.metrics.replay_seconds = *middle;

  RunReport report;
  report.strategy = spec.text;
  report.gpu = job.trace.gpu;
  report.exact = job.trace.coverage.starts_empty ||
                 (result.started_exact && !job.trace.start.segments.empty());
  report.finished = result.finished;
  report.metrics = std::move(result.metrics);
  return report;
}

std::string model_check(const Job& job, const RunOptions& options) {
  if (!is_torch(job.recording)) return {};
  const VerifyResult result = verify(job.recording, job.trace, options.torch_version);
  if (result.verdict == Verdict::unsupported) return {};
  return fmt::format("{} of {} placements reproduced", human_count(result.allocs_matched),
                     human_count(result.allocs));
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
      jobs.push_back({recording, *trace,
                      options.strategies.empty() ? defaults(recording) : options.strategies});
    }
  }
  return jobs;
}

}  // namespace

bool is_torch(const Recording& recording) { return recording.format.starts_with("torch-"); }

Runs run_all(const InputOptions& input, const RunOptions& options, const ReportOptions& reports,
             DefaultStrategies defaults, bool check_model) {
  const std::vector<Recording> recordings = read_all(input);
  const std::vector<Job> jobs = jobs_of(recordings, input, options, defaults);
  std::size_t count = 0;
  for (const Job& job : jobs) count += job.strategies.size();
  check_outputs(options, reports, count);
  std::deque<RunFiles> files;
  for (std::size_t number = 1; number <= count; ++number) files.emplace_back(options, number);

  watch_for_interrupt();
  Progress progress(reports.quiet);
  Runs runs;
  auto next_files = files.begin();
  for (const Job& job : jobs) {
    ReplayReport report{summarise(job.recording, job.trace), summarise(options.device), {}, {}};
    for (const StrategySpec& spec : job.strategies) {
      if (interrupted()) break;
      report.runs.push_back(replay_job(job, spec, options, *next_files++, progress));
    }
    set_places(report.runs);
    if (check_model && !interrupted()) report.model_check = model_check(job, options);
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

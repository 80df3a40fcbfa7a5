#include "report/diff/diff.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/diff/recordings.hpp"
#include "analysis/diff/strategies.hpp"
#include "core/error.hpp"
#include "inputs.hpp"
#include "options/command_line.hpp"
#include "options/options.hpp"
#include "output/printing.hpp"
#include "output/terminal.hpp"
#include "replay/exactness.hpp"
#include "report/ranking.hpp"
#include "summaries.hpp"

namespace memreplay {
namespace {

struct DiffCommand {
  InputOptions input;
  RunOptions run;
  ReportOptions reports;
  std::optional<std::uint64_t> at_step;
};

// The first device of each file that has something to replay.
std::vector<Chosen> first_devices(const Inputs& inputs) {
  std::vector<Chosen> chosen;
  for (const Chosen& device : inputs.chosen()) {
    if (chosen.empty() || chosen.back().recording != device.recording) chosen.push_back(device);
  }
  return chosen;
}

TrialOptions trial_options(const RunOptions& run) {
  return {
      .device = run.device, .cost = run.cost, .torch_version = run.torch_version, .uses = run.uses};
}

ReplayOptions replay_options(const RunOptions& run, Progress& progress, const std::string& what) {
  ReplayOptions replaying;
  replaying.start = run.start;
  replaying.ignore_empty_cache = run.ignore_empty_cache;
  replaying.cancelled = &interrupted();
  replaying.progress = [&progress, what](double share) { progress.show(what, share); };
  return replaying;
}

std::optional<Bytes> room_on(const SimulatedDeviceOptions& device) {
  if (!device.capacity) return std::nullopt;
  return *device.capacity - std::min(*device.capacity, device.reserve);
}

RunReport run_report(const Subject& subject, const StrategySpec& spec, const RunOptions& options,
                     const ReplayResult& result) {
  RunReport run;
  run.strategy = spec.text;
  run.gpu = subject.trace().gpu;
  run.inexact_because =
      why_inexact(subject, spec, options.torch_version, room_on(options.device), result);
  run.exact = run.inexact_because.empty();
  run.finished = result.finished;
  run.metrics = result.metrics;
  return run;
}

SidePeaks peaks_of(const Subject& subject, const DiffCommand& asked, Progress& progress) {
  if (asked.run.strategies.empty()) return recorded_peaks(subject);
  return replayed_peaks(subject, asked.run.strategies.front(), trial_options(asked.run),
                        replay_options(asked.run, progress, subject.recording().path));
}

void compare_recordings(const std::vector<Chosen>& devices, const DiffCommand& asked,
                        Printer& printer, Progress& progress) {
  const Subject a = devices[0].subject(progress);
  const Subject b = devices[1].subject(progress);
  RecordingsReport report;
  report.a = summarise(*devices[0].recording, *devices[0].trace);
  report.b = summarise(*devices[1].recording, *devices[1].trace);
  report.diff = diff_recordings(a, peaks_of(a, asked, progress), b, peaks_of(b, asked, progress),
                                asked.at_step);
  if (!asked.run.strategies.empty()) {
    const StrategySpec& spec = asked.run.strategies.front();
    report.device = summarise(asked.run.device);
    report.a_run = run_report(a, spec, asked.run, *report.diff.a.replay);
    report.b_run = run_report(b, spec, asked.run, *report.diff.b.replay);
  }
  progress.clear();
  if (interrupted()) return;  // half of a comparison is none
  printer.print(
      {[&] { return recordings_diff_text(report, terminal_style()); },
       [&] { return recordings_diff_json(report); }, [&] { return recordings_diff_table(report); },
       [&] { return answered(recordings_diff_text(report, {}), recordings_diff_table(report)); }});
}

void compare_strategies(const Chosen& device, const DiffCommand& asked, Printer& printer,
                        Progress& progress) {
  const Subject subject = device.subject(progress);
  const std::array<StrategySpec, 2> specs = {asked.run.strategies[0], asked.run.strategies[1]};
  StrategiesReport report;
  report.trace = summarise(*device.recording, *device.trace);
  report.device = summarise(asked.run.device);
  report.streams = subject.trace().streams;
  report.model_check = model_check(subject);
  report.diff = diff_strategies(subject, specs, trial_options(asked.run),
                                replay_options(asked.run, progress, "replaying"));
  std::vector<RunReport> runs;
  for (std::size_t side = 0; side < 2; ++side) {
    runs.push_back(run_report(subject, specs[side], asked.run, report.diff.runs[side]));
  }
  set_places(runs);
  std::ranges::move(runs, report.runs.begin());
  progress.clear();
  if (interrupted()) return;
  printer.print(
      {[&] { return strategies_diff_text(report, terminal_style()); },
       [&] { return strategies_diff_json(report); }, [&] { return strategies_diff_table(report); },
       [&] { return answered(strategies_diff_text(report, {}), strategies_diff_table(report)); }});
}

void check_request(const DiffCommand& asked, const Command& command) {
  const std::size_t files = asked.input.paths.size();
  const std::size_t strategies = asked.run.strategies.size();
  const auto refuse = [&](const std::string& what) {
    throw UsageError(fmt::format("{} (memreplay {} {})", what, command.name, command.arguments));
  };
  if (files > 2)
    refuse(fmt::format("{} recordings; expected two, or one and two strategies", files));
  if (files == 1 && strategies != 2) {
    refuse(fmt::format("one recording and {}; expected a second recording, or -s twice",
                       strategies == 0   ? std::string("no strategy")
                       : strategies == 1 ? std::string("one strategy")
                                         : fmt::format("{} strategies", strategies)));
  }
  if (files == 2 && strategies > 1) {
    refuse(fmt::format("two recordings and {} strategies; expected one at most", strategies));
  }
  if (files == 1 && asked.at_step) refuse("--at-step is for two recordings");
}

}  // namespace

int run_diff(const Command& command, const std::vector<std::string>& arguments) {
  DiffCommand asked;
  CommandLine line(command);
  add_input_options(line, asked.input);
  line.value("--at-step", "N", "Compare the peaks within step N. Default: those of everything.",
             [&](const std::string& text) { asked.at_step = whole_argument("--at-step", text); });
  add_strategy_options(line, asked.run);
  add_device_options(line, asked.run);
  add_start_options(line, asked.run);
  add_report_options(line, asked.reports, true);
  line.parse(arguments);
  require_paths(asked.input, command);
  check_request(asked, command);

  Printer printer(asked.reports);
  const Inputs inputs(asked.input);
  const std::vector<Chosen> devices = first_devices(inputs);
  watch_for_interrupt();
  Progress progress(asked.reports.quiet);
  if (devices.size() == 2) {
    compare_recordings(devices, asked, printer, progress);
  } else {
    compare_strategies(devices.front(), asked, printer, progress);
  }
  return interrupted() ? kInterrupted : kDone;
}

}  // namespace memreplay

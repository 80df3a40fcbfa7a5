#include "output/run_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.hpp"

namespace memreplay {
namespace {

using NamedPath = std::pair<const char*, const std::string*>;

std::array<NamedPath, 4> output_paths(const RunOptions& options) {
  return {{{"--placements", &options.placements},
           {"--timeline", &options.timeline},
           {"--device-events", &options.device_events},
           {"--segments", &options.segments}}};
}

std::unique_ptr<OutputFile> opened(std::string path, std::size_t number) {
  if (path.empty()) return nullptr;
  for (std::size_t at = 0; (at = path.find("{n}", at)) != std::string::npos;) {
    path.replace(at, 3, std::to_string(number));
  }
  return std::make_unique<OutputFile>(path);
}

}  // namespace

RunFiles::RunFiles(const RunOptions& options, std::size_t number)
    : placements_(opened(options.placements, number)),
      timeline_(opened(options.timeline, number)),
      device_events_(opened(options.device_events, number)),
      segments_(opened(options.segments, number)) {}

void RunFiles::observe(const Trace& trace, const DeviceLog& log, ObserverGroup& observers) {
  trace_ = &trace;
  if (placements_) observers.add(placement_rows_.emplace(trace, placements_->stream()));
  if (timeline_) observers.add(timeline_rows_.emplace(trace, timeline_->stream()));
  if (device_events_) {
    observers.add(device_event_rows_.emplace(log, device_events_->stream()));
  }
}

void RunFiles::finish(const Strategy& strategy) {
  if (segments_) write_segments(*trace_, strategy.memory_state(), segments_->stream());
  placement_rows_.reset();
  timeline_rows_.reset();
  device_event_rows_.reset();
}

void RunFiles::commit() {
  for (const auto* file : {&placements_, &timeline_, &device_events_, &segments_}) {
    if (*file) (*file)->commit();
  }
}

bool wants_files(const RunOptions& options) {
  const auto paths = output_paths(options);
  return std::ranges::any_of(paths, [](const NamedPath& path) { return !path.second->empty(); });
}

void check_outputs(const RunOptions& options, const ReportOptions& reports, std::size_t runs) {
  std::size_t on_stdout = 0;
  std::vector<std::string> files;
  for (const auto& [option, path] : output_paths(options)) {
    if (path->empty()) continue;
    if (*path == "-") {
      ++on_stdout;
    } else {
      files.push_back(*path);
    }
    if (runs > 1 && path->find("{n}") == std::string::npos && *path != "/dev/null") {
      throw UsageError(
          fmt::format("{} {}: {} runs would write the same file; put {{n}}, the number "
                      "of the run, into its name",
                      option, *path, runs));
    }
  }
  if (options.perfetto == "-") ++on_stdout;
  if (!options.perfetto.empty() && options.perfetto != "-") files.push_back(options.perfetto);
  for (const ReportOptions::File& report : reports.files) {
    if (report.path == "-") {
      ++on_stdout;
    } else {
      files.push_back(report.path);
    }
  }
  if (on_stdout > 1) throw UsageError("only one output can go to standard output");
  std::sort(files.begin(), files.end());
  const auto twice = std::adjacent_find(files.begin(), files.end());
  if (twice != files.end() && *twice != "/dev/null") {
    throw UsageError(fmt::format("{}: two outputs to the same file", *twice));
  }
}

bool takes_stdout(const RunOptions& options) {
  const auto paths = output_paths(options);
  return options.perfetto == "-" ||
         std::any_of(paths.begin(), paths.end(), [](const auto& p) { return *p.second == "-"; });
}

}  // namespace memreplay

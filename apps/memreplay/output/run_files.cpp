#include "output/run_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.hpp"

namespace memreplay {
namespace {

using NamedPath = std::pair<const char*, const OutputPath*>;

std::array<NamedPath, 4> output_paths(const RunOptions& options) {
  return {{{"--placements", &options.placements},
           {"--timeline", &options.timeline},
           {"--device-events", &options.device_events},
           {"--segments", &options.segments}}};
}

std::unique_ptr<OutputFile> opened(const OutputPath& path, std::size_t number) {
  return path.empty() ? nullptr : std::make_unique<OutputFile>(path.of_run(number));
}

}  // namespace

RunFiles::RunFiles(const RunOptions& options, std::size_t number)
    : placements_(opened(options.placements, number)),
      timeline_(opened(options.timeline, number)),
      device_events_(opened(options.device_events, number)),
      segments_(opened(options.segments, number)) {}

void RunFiles::add_writers(const Trace& trace, const DeviceLog& log, WatcherGroup& also) {
  trace_ = &trace;
  if (placements_) also.add(placement_rows_.emplace(trace, placements_->stream()));
  if (timeline_) also.add(timeline_rows_.emplace(trace, timeline_->stream()));
  if (device_events_) {
    also.add(device_event_rows_.emplace(log, device_events_->stream()));
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
  std::size_t on_stdout = options.perfetto.is_stdout() ? 1 : 0;
  for (const auto& [option, path] : output_paths(options)) {
    if (path->empty()) continue;
    if (path->is_stdout()) ++on_stdout;
    if (runs > 1 && !path->of_each_run() && path->text() != "/dev/null") {
      throw UsageError(
          fmt::format("{} {}: {} runs would write the same file; put {{n}}, the number "
                      "of the run, into its name",
                      option, path->text(), runs));
    }
  }
  if (reports.takes_stdout()) ++on_stdout;
  if (on_stdout > 1) throw UsageError("only one output can go to standard output");
}

bool takes_stdout(const RunOptions& options) {
  const auto paths = output_paths(options);
  return options.perfetto.is_stdout() || std::any_of(paths.begin(), paths.end(), [](const auto& p) {
           return p.second->is_stdout();
         });
}

}  // namespace memreplay

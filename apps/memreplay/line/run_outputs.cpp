#include "line/run_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "core/error.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"
#include "program/steps.hpp"

namespace memreplay {
namespace {

using NamedPath = std::pair<const char*, const OutputPath*>;

std::array<NamedPath, 4> output_paths(const RunPaths& paths) {
  return {{{"--placements", &paths.placements},
           {"--timeline", &paths.timeline},
           {"--device-events", &paths.device_events},
           {"--segments", &paths.segments}}};
}

std::unique_ptr<OutputFile> opened(const OutputPath& path, std::size_t number) {
  return path.empty() ? nullptr : std::make_unique<OutputFile>(path.of_run(number));
}

}  // namespace

PerfettoFile::PerfettoFile(const OutputPath& path, const std::vector<Chosen>& chosen)
    : path_(path.text()), several_(chosen.size() > 1) {
  if (path.empty()) return;
  file_.emplace(path);
  const bool timed =
      std::ranges::all_of(chosen, [](const Chosen& one) { return has_clock(one.trace->times_us); });
  writer_.emplace(file_->stream(),
                  timed ? PerfettoClock::recorded_us : PerfettoClock::event_number);
}

std::string PerfettoFile::name_of(const Chosen& chosen) const {
  return several_ ? fmt::format("{} {}: ", chosen.recording->path, gpu_label(chosen.trace->gpu))
                  : "";
}

void PerfettoFile::add_phases(const Chosen& chosen) {
  if (!wanted()) return;
  writer_->add_phases(name_of(chosen) + "phases",
                      annotated_phases(*chosen.recording, *chosen.trace), chosen.trace->size(),
                      chosen.trace->times_us);
}

void PerfettoFile::add_run(const Chosen& chosen, const std::string& run,
                           const RunPicture& picture) {
  if (!wanted()) return;
  writer_->add_run(name_of(chosen) + run, picture, chosen.trace->times_us);
  left_out_ += picture.ooms_left_out + picture.retries_left_out + picture.segments_left_out;
}

void PerfettoFile::commit(bool quiet) {
  if (!wanted()) return;
  writer_->finish();
  file_->commit();
  if (left_out_ == 0 || quiet) return;
  write_stderr(fmt::format("{}: {} OOMs, retries and segments were left out; --points N keeps more",
                           path_, human_count(left_out_)));
}

RunOutputs::RunOutputs(const RunPaths& paths, const ReportOptions& reports)
    : paths_(paths), reports_(reports) {}

RunsProgress RunOutputs::progress() {
  const bool watches = wants_files(paths_) || !paths_.perfetto.empty();
  return {.expect = [this](const Inputs& inputs, std::size_t runs) { open(inputs, runs); },
          .begin_trace = [this](const Chosen& chosen, auto&) { perfetto_->add_phases(chosen); },
          .judged = [this](const Chosen& chosen, Run& run) { add(chosen, run); },
          .watcher = watches ? this : nullptr};
}

bool RunOutputs::needs_device_log() const {
  return !paths_.device_events.empty() || !paths_.perfetto.empty();
}

bool RunOutputs::shows_places() const {
  return !paths_.placements.empty() || !paths_.segments.empty();
}

void RunOutputs::open(const Inputs& inputs, std::size_t runs) {
  check_outputs(paths_, reports_, runs);
  perfetto_.emplace(paths_.perfetto, inputs.chosen());
  for (std::size_t number = 1; number <= runs; ++number) files_.emplace_back(paths_, number);
}

void RunOutputs::on_run(const Subject& subject, const Trial& trial, WatcherGroup& also) {
  files_[begun_++].add_writers(subject.trace(), trial.log(), also);
}

void RunOutputs::on_run_end(const Trial& trial) { files_[begun_ - 1].finish(trial.strategy()); }

void RunOutputs::add(const Chosen& chosen, Run& run) {
  if (run.picture) perfetto_->add_run(chosen, run.name(), *run.picture);
  // The plot is for people; what is only for a file went there.
  if (!paths_.plot) run.picture.reset();
}

void RunOutputs::commit() {
  for (RunFiles& run : files_) run.commit();
  perfetto_->commit(reports_.quiet);
}

RunFiles::RunFiles(const RunPaths& paths, std::size_t number)
    : placements_(opened(paths.placements, number)),
      timeline_(opened(paths.timeline, number)),
      device_events_(opened(paths.device_events, number)),
      segments_(opened(paths.segments, number)) {}

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
  if (placement_rows_) placement_rows_->finish();
  if (timeline_rows_) timeline_rows_->finish();
  if (device_event_rows_) device_event_rows_->finish();
}

void RunFiles::commit() {
  for (const auto* file : {&placements_, &timeline_, &device_events_, &segments_}) {
    if (*file) (*file)->commit();
  }
}

bool wants_files(const RunPaths& paths) {
  const auto all = output_paths(paths);
  return std::ranges::any_of(all, [](const NamedPath& path) { return !path.second->empty(); });
}

void check_outputs(const RunPaths& paths, const ReportOptions& reports, std::size_t runs) {
  std::size_t on_stdout = paths.perfetto.is_stdout() ? 1 : 0;
  for (const auto& [option, path] : output_paths(paths)) {
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

bool takes_stdout(const RunPaths& paths) {
  return paths.perfetto.is_stdout() || std::ranges::any_of(output_paths(paths), [](const auto& p) {
           return p.second->is_stdout();
         });
}

}  // namespace memreplay

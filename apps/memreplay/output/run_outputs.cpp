#include "output/run_outputs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/recorded/steps.hpp"
#include "core/gpu_label.hpp"
#include "core/text.hpp"

namespace memreplay {

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

RunOutputs::RunOutputs(const RunOptions& options, const ReportOptions& reports)
    : options_(options), reports_(reports) {}

RunsProgress RunOutputs::progress() {
  const bool watches = wants_files(options_) || !options_.perfetto.empty();
  return {.expect = [this](const Inputs& inputs, std::size_t runs) { open(inputs, runs); },
          .begin_trace = [this](const Chosen& chosen, auto&) { perfetto_->add_phases(chosen); },
          .judged = [this](const Chosen& chosen, Run& run) { add(chosen, run); },
          .watcher = watches ? this : nullptr};
}

bool RunOutputs::needs_device_log() const {
  return !options_.device_events.empty() || !options_.perfetto.empty();
}

void RunOutputs::open(const Inputs& inputs, std::size_t runs) {
  check_outputs(options_, reports_, runs);
  perfetto_.emplace(options_.perfetto, inputs.chosen());
  for (std::size_t number = 1; number <= runs; ++number) files_.emplace_back(options_, number);
}

void RunOutputs::on_run(const Subject& subject, const Trial& trial, WatcherGroup& also) {
  files_[begun_++].add_writers(subject.trace(), trial.log(), also);
}

void RunOutputs::on_run_end(const Trial& trial) { files_[begun_ - 1].finish(trial.strategy()); }

void RunOutputs::add(const Chosen& chosen, Run& run) {
  if (run.picture) perfetto_->add_run(chosen, run.name(), *run.picture);
  // The plot is for people; what is only for a file went there.
  if (!options_.plot) run.picture.reset();
}

void RunOutputs::commit() {
  for (RunFiles& run : files_) run.commit();
  perfetto_->commit(reports_.quiet);
}

}  // namespace memreplay

#include "output/run_outputs.hpp"

namespace memreplay {

RunOutputs::RunOutputs(const RunOptions& options, const ReportOptions& reports)
    : options_(options), reports_(reports) {}

bool RunOutputs::wants_runs() const { return wants_files(options_) || !options_.perfetto.empty(); }

bool RunOutputs::needs_device_log() const {
  return !options_.device_events.empty() || !options_.perfetto.empty();
}

void RunOutputs::expect(const Inputs& inputs, std::size_t runs) {
  check_outputs(options_, reports_, runs);
  perfetto_.emplace(options_.perfetto, inputs.chosen());
  for (std::size_t number = 1; number <= runs; ++number) files_.emplace_back(options_, number);
}

void RunOutputs::begin_trace(const Chosen& chosen, const Subject& /*subject*/) {
  perfetto_->add_phases(chosen);
}

void RunOutputs::begin_run(const Subject& subject, const Trial& trial, ObserverGroup& observers) {
  files_[begun_++].observe(subject.trace(), trial.log(), observers);
}

void RunOutputs::end_run(const Trial& trial) { files_[begun_ - 1].finish(trial.strategy()); }

void RunOutputs::judged(const Chosen& chosen, Run& run) {
  if (run.picture) perfetto_->add_run(chosen, run.name(), *run.picture);
  // The plot is for people; what is only for a file went there.
  if (!options_.plot) run.picture.reset();
}

void RunOutputs::commit() {
  for (RunFiles& run : files_) run.commit();
  perfetto_->commit(reports_.quiet);
}

}  // namespace memreplay

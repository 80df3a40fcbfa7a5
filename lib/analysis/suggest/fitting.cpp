#include "analysis/suggest/fitting.hpp"

#include <algorithm>

#include "analysis/run/made_interval.hpp"

namespace memreplay {
namespace {

Run run_of_subject(const Subject& subject, const StrategySpec& spec, const Setup& setup,
                   const Control& control) {
  const LateStart late(subject, replay_options(subject.trace(), setup, control));
  return run(subject, spec, simulated(sized_for(subject, setup.device)), setup, late, nullptr,
             control);
}

}  // namespace

FittedProgram::FittedProgram(const Subject& subject, std::span<const Edit> edits)
    : as_it_is_(subject) {
  if (edits.empty()) return;
  made_ = edited(subject, edits);
  edited_.emplace(made_.likeliest.recording, made_.likeliest.trace(), made_.likeliest.origin);
  for (const MadeRecording& other : made_.others) {
    others_.emplace_back(other.recording, other.trace(), other.origin);
  }
}

void BudgetJudge::judge(const FittedProgram& program, const StrategySpec& spec,
                        Suggestion& suggestion) const {
  Setup setup = setup_;
  setup.device.capacity.reset();
  setup.device.endless = true;
  const Run run = run_on(program, spec, setup);
  if (run.interrupted()) return;
  suggestion.peak_requested = run.metrics.peak_requested;
  suggestion.peak_reserved = run.metrics.peak_reserved;
  suggestion.interval = run.interval;
  const Bytes to_come = suggestion.still_to_come;
  const Bytes most = run.interval ? run.interval->peak_reserved.high : run.metrics.peak_reserved;
  suggestion.fits = most + to_come + held() <= budget_;
  if (suggestion.fits || budget_ <= to_come + held()) return;
  // A full device makes an allocator return what it does not need.
  setup = full_device(suggestion);
  setup.stop_at_oom = true;
  const Run full = run_on(program, spec, setup);
  if (full.metrics.ooms > 0 || !full.finished) return;
  suggestion.fits = serve(program.others(), spec, setup);
  if (!suggestion.fits) return;
  suggestion.retries = full.metrics.oom_retries;
  suggestion.peak_reserved = full.metrics.peak_reserved;
  suggestion.interval = full.interval;
}

bool BudgetJudge::may_fit(const Suggestion& judged) const {
  const auto& interval = judged.interval;
  const Bytes requested =
      interval && interval->peak_requested ? interval->peak_requested->high : judged.peak_requested;
  return requested + judged.still_to_come + held() <= budget_;
}

Setup BudgetJudge::full_device(const Suggestion& judged) const {
  Setup setup = setup_;
  setup.device.endless = false;
  setup.device.capacity = budget_ - judged.still_to_come;
  return setup;
}

Run BudgetJudge::run_on(const FittedProgram& program, const StrategySpec& spec,
                        const Setup& setup) const {
  const Subject& likeliest = program.likeliest();
  Run run = run_of_subject(likeliest, spec, setup, control_);
  span_others(program.made(), spec, simulated(sized_for(likeliest, setup.device)), setup, control_,
              run);
  return run;
}

bool BudgetJudge::serve(const std::deque<Subject>& others, const StrategySpec& spec,
                        const Setup& setup) const {
  return std::ranges::all_of(others, [&](const Subject& other) {
    const Run run = run_of_subject(other, spec, setup, control_);
    return run.finished && run.metrics.ooms == 0;
  });
}

}  // namespace memreplay
